// What NCCL hands to a profiler plugin, as offsets into the event descriptors of each version of the interface
// (measured with offsetof on x86-64; the same in every NCCL from 2.23 to 2.32, and in RCCL). Declared here: NCCL's
// headers are not needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rankscope::inject::nccl {

/// Bit numbers of event types in the activation mask and in a descriptor.
namespace event_type {
inline constexpr std::uint64_t group = 1 << 0;
inline constexpr std::uint64_t coll = 1 << 1;
inline constexpr std::uint64_t p2p = 1 << 2;
inline constexpr std::uint64_t proxy_op = 1 << 3;
inline constexpr std::uint64_t proxy_step = 1 << 4;
inline constexpr std::uint64_t proxy_ctrl = 1 << 5;
inline constexpr std::uint64_t kernel_channel = 1 << 6;
inline constexpr std::uint64_t net_plugin = 1 << 7;
inline constexpr std::uint64_t group_api = 1 << 8;
inline constexpr std::uint64_t coll_api = 1 << 9;
inline constexpr std::uint64_t p2p_api = 1 << 10;
inline constexpr std::uint64_t kernel_launch = 1 << 11;
inline constexpr std::uint64_t ce_coll = 1 << 12;     ///< by the copy engines
inline constexpr std::uint64_t last_known = 1 << 15;  ///< phases of symmetric kernels, which are not asked for
}  // namespace event_type

/// States of recordEventState that are read.
enum class State : int {
  send_gpu_wait = 8,
  send_wait = 9,
  receive_wait = 10,
  receive_flush_wait = 11,
  receive_gpu_wait = 12,
  send_peer_wait = 20,
  kernel_channel_stop = 22,
};

/// A descriptor of any version. Texts and pointers are valid during the call only. What a version does not tell keeps
/// its default.
struct Event {
  std::uint64_t type = 0;
  const void* parent = nullptr;
  const char* communicator_name = nullptr;
  std::uint64_t communicator_hash = 0;  ///< 0 = not told with the event (version 4 and later tell it once)
  std::int64_t sequence = -1;           ///< of this function in this communicator
  std::string_view function{};          ///< "AllReduce"
  std::string_view datatype{};          ///< "ncclFloat32"
  std::string_view algorithm{};
  std::string_view protocol{};
  std::uint64_t count = 0;
  int root = -1;  ///< root of a collective, peer of a send or receive: a rank of the communicator
  int channels = -1;
  int channel = -1;            ///< of a proxy operation or kernel channel
  std::uint64_t gpu_time = 0;  ///< globaltimer ns at which a kernel channel started; 0 = not told
  std::int64_t process = -1;   ///< of a proxy operation's parent
  int steps = -1;
  int chunk_bytes = -1;
  bool is_send = false;
  bool is_captured = false;  ///< of a call: it becomes a part of a CUDA graph
};

/// `version` 1 to 7.
[[nodiscard]] Event read_event(const void* descriptor, int version);

/// A number of the state arguments: bytes moved so far of a proxy step, or the stop time of a kernel channel in
/// globaltimer ns. 0 without arguments, or where the version does not tell.
[[nodiscard]] std::uint64_t read_state_number(const void* arguments, int version, State state);

/// An operation in the words of a recording: "allreduce"; of one that is not known what NCCL says.
[[nodiscard]] std::string_view operation_from(std::string_view function);

/// Below function_count; all functions that are not known share one number.
inline constexpr std::size_t function_count = 12;
[[nodiscard]] std::size_t function_index(std::string_view function);

/// A type of elements: "f32", 4 bytes. Index 0 is a type that NCCL does not name, which has one byte.
struct ElementType {
  std::string_view nccl_name;
  std::string_view name;
  std::uint32_t bytes;
};
[[nodiscard]] std::uint32_t element_type_index(std::string_view nccl_name);
[[nodiscard]] const ElementType& element_type(std::uint32_t index);

}  // namespace rankscope::inject::nccl
