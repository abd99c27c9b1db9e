// CUPTI's sampling of the hardware's counters (PM sampling), found at run time in the libcupti that is used. The
// parameters of its calls are declared here: NVIDIA's headers are not needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cupti/library.h"

namespace rankscope::collectors::cupti {

/// CUptiResult, those that sampling tells apart.
namespace result {
inline constexpr int out_of_memory = 8;
inline constexpr int not_initialized = 15;  ///< also: libnvperf_host was not found
inline constexpr int hardware_busy = 26;
inline constexpr int not_supported = 27;
inline constexpr int virtual_device = 33;
inline constexpr int virtual_device_privileges = 40;
inline constexpr int first_kind_of_device = 41;  ///< confidential computing, mining, MIG, SLI, WSL
inline constexpr int last_kind_of_device = 45;
}  // namespace result

/// Parameters, in the order of cupti_pmsampling.h, cupti_profiler_host.h, cupti_profiler_target.h and cupti_target.h.
/// What a call returns is zero before it.
namespace pm {

struct Profiler {  ///< Initialize, DeInitialize
  std::size_t struct_size = sizeof(Profiler);
  void* reserved = nullptr;
};

struct ChipName {
  std::size_t struct_size = sizeof(ChipName);
  void* reserved = nullptr;
  std::size_t device = 0;
  const char* name = nullptr;  ///< out
};

/// Called without an image it tells the size of one.
struct Availability {
  std::size_t struct_size = sizeof(Availability);
  void* reserved = nullptr;
  std::size_t device = 0;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

struct HostInitialize {
  std::size_t struct_size = sizeof(HostInitialize);
  void* reserved = nullptr;
  int profiler = pm_sampling;
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;  ///< null: all counters of the chip
  void* host = nullptr;                        ///< out
  static constexpr int pm_sampling = 1;
};

struct HostDeinitialize {
  std::size_t struct_size = sizeof(HostDeinitialize);
  void* reserved = nullptr;
  void* host = nullptr;
};

struct AddMetrics {
  std::size_t struct_size = sizeof(AddMetrics);
  void* reserved = nullptr;
  void* host = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
};

struct ConfigSize {
  std::size_t struct_size = sizeof(ConfigSize);
  void* reserved = nullptr;
  void* host = nullptr;
  std::size_t bytes = 0;  ///< out
};

struct ConfigImage {
  std::size_t struct_size = sizeof(ConfigImage);
  void* reserved = nullptr;
  void* host = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

struct Passes {
  std::size_t struct_size = sizeof(Passes);
  void* reserved = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
  std::size_t passes = 0;  ///< out
};

struct Evaluate {
  std::size_t struct_size = sizeof(Evaluate);
  void* reserved = nullptr;
  void* host = nullptr;
  const std::uint8_t* image = nullptr;
  std::size_t bytes = 0;
  std::size_t sample = 0;
  const char** names = nullptr;
  std::size_t count = 0;
  double* values = nullptr;
};

struct Enable {
  std::size_t struct_size = sizeof(Enable);
  void* reserved = nullptr;
  std::size_t device = 0;
  void* sampler = nullptr;  ///< out
};

enum class Trigger : int {
  system_clock = 0,  ///< the interval counts cycles of the GPU's system clock
  time = 1,          ///< nanoseconds; not on Turing and GA100
};
enum class Append : int {
  keep_oldest = 0,
  keep_latest = 1,  ///< not on Turing
};

struct SetConfig {
  std::size_t struct_size = sizeof(SetConfig);
  void* reserved = nullptr;
  void* sampler = nullptr;
  std::size_t config_bytes = 0;
  const std::uint8_t* config = nullptr;
  std::size_t hardware_bytes = 0;
  std::uint64_t interval = 0;
  Trigger trigger = Trigger::time;
  Append append = Append::keep_latest;
};

struct Sampler {  ///< Start, Stop, Disable
  std::size_t struct_size = sizeof(Sampler);
  void* reserved = nullptr;
  void* sampler = nullptr;
};

struct DataSize {
  std::size_t struct_size = sizeof(DataSize);
  void* reserved = nullptr;
  void* sampler = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
  std::uint32_t most_samples = 0;
  std::size_t bytes = 0;  ///< out
};

struct DataImage {
  std::size_t struct_size = sizeof(DataImage);
  void* reserved = nullptr;
  void* sampler = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

enum class Stopped : int { other = 0, image_full = 1, no_more = 2 };

/// CUPTI counts the size of a structure up to its last field, without what pads it.
struct Decode {
  std::size_t struct_size = 45;
  void* reserved = nullptr;
  void* sampler = nullptr;
  std::uint8_t* image = nullptr;
  std::size_t bytes = 0;
  Stopped stopped = Stopped::other;  ///< out
  std::uint8_t overflowed = 0;       ///< out: the hardware's buffer was full
};
static_assert(offsetof(Decode, overflowed) + 1 == 45);

struct DataInfo {
  std::size_t struct_size = sizeof(DataInfo);
  void* reserved = nullptr;
  const std::uint8_t* image = nullptr;
  std::size_t bytes = 0;
  std::size_t total = 0, populated = 0, completed = 0;  ///< out
};

struct SampleInfo {
  std::size_t struct_size = sizeof(SampleInfo);
  void* reserved = nullptr;
  void* sampler = nullptr;
  const std::uint8_t* image = nullptr;
  std::size_t bytes = 0;
  std::size_t sample = 0;
  std::uint64_t begin = 0, end = 0;  ///< out: ns of CUPTI's clock
};

}  // namespace pm

struct PmFunctions : ResultNames {
  int (*initialize)(pm::Profiler*) = nullptr;
  int (*deinitialize)(pm::Profiler*) = nullptr;
  int (*chip_name)(pm::ChipName*) = nullptr;
  int (*availability)(pm::Availability*) = nullptr;
  int (*host_initialize)(pm::HostInitialize*) = nullptr;
  int (*host_deinitialize)(pm::HostDeinitialize*) = nullptr;
  int (*add_metrics)(pm::AddMetrics*) = nullptr;
  int (*config_size)(pm::ConfigSize*) = nullptr;
  int (*config_image)(pm::ConfigImage*) = nullptr;
  int (*passes)(pm::Passes*) = nullptr;
  int (*evaluate)(pm::Evaluate*) = nullptr;
  int (*enable)(pm::Enable*) = nullptr;
  int (*set_config)(pm::SetConfig*) = nullptr;
  int (*start)(pm::Sampler*) = nullptr;
  int (*stop)(pm::Sampler*) = nullptr;
  int (*disable)(pm::Sampler*) = nullptr;
  int (*data_size)(pm::DataSize*) = nullptr;
  int (*data_image)(pm::DataImage*) = nullptr;
  int (*decode)(pm::Decode*) = nullptr;
  int (*data_info)(pm::DataInfo*) = nullptr;
  int (*sample_info)(pm::SampleInfo*) = nullptr;
  std::string folder{};  ///< of the library
};

struct PmLibrary {
  PmFunctions call;
  std::string problem;  ///< empty: it can sample
};

/// Why a version of CUPTI does not sample; empty if it does.
[[nodiscard]] std::string sampling_refusal_of(std::uint32_t version);

/// The functions of a libcupti; those for sampling came with CUDA 12.6, and are usable from 12.8 on. It is loaded if it
/// is not yet, with the libnvperf_host beside it: CUPTI asks the dynamic linker for that one by its bare name, which
/// finds it in no folder that only the program knows (PyTorch's).
[[nodiscard]] PmLibrary find_pm_functions(const std::string& library);

/// What a refusal means and what to do; `doing` is what was tried ("reserving the counters of GPU 0").
[[nodiscard]] std::string pm_refusal(const PmFunctions& call, int status, const std::string& doing);

}  // namespace rankscope::collectors::cupti
