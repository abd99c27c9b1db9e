// libcupti, found and loaded at run time. Its functions are declared here: NVIDIA's headers are not needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace rankscope::collectors::cupti {

/// CUptiResult, those that are told apart.
namespace result {
inline constexpr int success = 0;
inline constexpr int incompatible_driver =
    15;  ///< NOT_INITIALIZED: it does not work with the driver (CUPTI guide, 2.1)
inline constexpr int insufficient_privileges = 35;
inline constexpr int several_subscribers = 39;
}  // namespace result

/// CUPTI_CB_DOMAIN_… and the calls that are listened to (cupti_runtime_cbid.h, cupti_driver_cbid.h; never changed).
struct WatchedCall {
  int domain;
  std::uint32_t number;
  bool starts;  ///< the profiler; else it stops it
};
inline constexpr std::array profiler_calls{
    WatchedCall{.domain = 2, .number = 171, .starts = true}, WatchedCall{.domain = 2, .number = 172, .starts = false},
    WatchedCall{.domain = 1, .number = 308, .starts = true}, WatchedCall{.domain = 1, .number = 309, .starts = false}};

/// What a program does all the time and nobody waits for: questions that the host answers alone. Not those that often
/// take long, since they load code (cudaFuncGetAttributes, cuKernelSetAttribute). Names: headers_test.cpp. Of the
/// runtime: errors (10 to 12), the device (16, 17, 200), making and asking of events, which PyTorch's watchdog of NCCL
/// polls (133 to 138), pointers (151), occupancy (207, 210, 251), whether a stream is being captured (317 to 327, 409,
/// 461), and what stands for a kernel or function (336, 406, 468).
inline constexpr std::array<std::uint32_t, 24> idle_runtime_calls{
    10, 11, 12, 16, 17, 133, 134, 136, 138, 151, 200, 207, 210, 251, 317, 318, 324, 325, 327, 336, 406, 409, 461, 468};
/// Of the driver: the same, and cuKernelGetName (719), which the runtime calls for each launch while calls are
/// recorded.
inline constexpr std::array<std::uint32_t, 24> idle_driver_calls{
    2, 3, 9, 85, 120, 137, 304, 310, 372, 373, 374, 392, 450, 451, 499, 536, 541, 626, 629, 677, 683, 686, 719, 729};

/// Calls of the driver that launch kernels, as NCCL does (src/enqueue.cc, ncclLaunchKernel). Names: headers_test.cpp.
inline constexpr std::array<std::uint32_t, 4> driver_launches{307, 442, 652, 653};

using Subscriber = void*;
using Callback = void (*)(void* user, int domain, std::uint32_t number, const void* data);
using Request = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using Complete = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                          std::size_t valid);

/// CUpti_SubscriberParams of 13.0.
struct SubscriberParams {
  std::size_t struct_size = sizeof(SubscriberParams);
  const char* name = nullptr;
  char* other_name = nullptr;
  std::size_t other_size = 0;
};

/// The names that a libcupti gives to its results.
struct ResultNames {
  int (*result_text)(int, const char**) = nullptr;

  /// "CUPTI_ERROR_UNKNOWN"
  [[nodiscard]] std::string text_of(int status) const;
};

/// The functions that are used; those marked optional are null where the version lacks them.
struct Functions : ResultNames {
  int (*get_version)(std::uint32_t*) = nullptr;
  int (*get_timestamp)(std::uint64_t*) = nullptr;
  int (*subscribe)(Subscriber*, Callback, void*) = nullptr;
  int (*subscribe_v2)(Subscriber*, Callback, void*, SubscriberParams*) = nullptr;  ///< optional, 13.0
  int (*unsubscribe)(Subscriber) = nullptr;
  int (*enable_callback)(std::uint32_t enable, Subscriber, int domain, std::uint32_t number) = nullptr;
  int (*set_thread_id_type)(int) = nullptr;
  int (*set_attribute)(int, std::size_t*, void*) = nullptr;
  int (*register_callbacks)(Request, Complete) = nullptr;
  int (*enable)(std::uint32_t) = nullptr;
  int (*enable_and_dump)(std::uint32_t) = nullptr;
  int (*disable)(std::uint32_t) = nullptr;
  int (*enable_runtime_call)(std::uint32_t, std::uint8_t) = nullptr;  ///< optional, 12.5
  int (*enable_driver_call)(std::uint32_t, std::uint8_t) = nullptr;   ///< optional, 12.5
  int (*enable_all_sync_records)(std::uint8_t) = nullptr;             ///< optional, 12.8
  int (*flush_all)(std::uint32_t) = nullptr;
  int (*next_record)(std::uint8_t*, std::size_t, void**) = nullptr;
  int (*dropped_records)(void*, std::uint32_t, std::size_t*) = nullptr;
  int (*callback_name)(int, std::uint32_t, const char**) = nullptr;
};

struct Library {
  Functions call;
  std::uint32_t version = 0;  ///< as cuptiGetVersion tells
  std::string path;
  std::string problem;      ///< empty: it can be used
  std::string passed_over;  ///< those before it that cannot be used, and why
};

/// Tries whether a library works with the driver: empty, or why it does not.
using Trial = std::function<std::string(const Library&)>;

/// Whether this process may initialise CUDA to ask whether the driver works. From CUDA 13.2 on, libcupti calls the
/// driver even to tell its version: without a driver that works, 13.2 crashes the process, and later ones fail (seen
/// with the libraries of PyPI). CUDA loads the injection inside cuInit, where the driver cannot be asked: there, a
/// libcuda that tells its version and a device of the kernel's driver have to do. That CUPTI answers there is not
/// proven.
enum class Driver : std::uint8_t { unknown, being_initialised };

/// The libcupti that the process has already, else RANKSCOPE_CUPTI, else the toolkit's or the one beside libcudart:
/// with a driver for CUDA 12, those of CUDA 12 before those of CUDA 13. Two of them in one process would disturb each
/// other.
[[nodiscard]] Library load_library(const Trial& trial = {}, Driver driver = Driver::unknown);
/// The first of these that can be used. Those that cannot are let go of, and their reasons told. One that fails the
/// trial stays loaded, unused: it may have left functions with the driver.
[[nodiscard]] Library load_first(std::span<const std::string> paths, const Trial& trial = {},
                                 Driver driver = Driver::unknown);

/// What a version that is used does wrong, as far as a recording can show it; empty for none that is known of.
struct Fault {
  std::string_view what{};
  std::string_view advice{};
};
[[nodiscard]] Fault fault_of(std::uint32_t version);

/// Why a version is not used; empty if it is.
[[nodiscard]] std::string refusal_of(std::uint32_t version);

}  // namespace rankscope::collectors::cupti
