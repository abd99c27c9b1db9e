#include "inject/nccl/layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace rankscope::inject::nccl {
namespace {

constexpr int absent = -1;

/// Offsets of one version. Function, datatype, algorithm and protocol are numbers of one byte in version 1, C strings
/// later.
struct Layout {
  std::size_t type_bytes;
  int name, hash;
  struct {
    int sequence, function, count, root, datatype, channels, algorithm, protocol;
  } coll;
  struct {
    int function, datatype, count, peer, channels;
  } p2p;
  bool has_texts;
  bool has_times;  ///< of kernel channels
};

constexpr Layout v1{1, 24, 32, {40, 48, 72, 80, 84, 104, 106, 107}, {40, 56, 64, 72, absent}, false, false};
constexpr Layout v2{1, 24, 32, {40, 48, 72, 80, 88, 104, 112, 120}, {40, 56, 64, 72, absent}, true, false};
constexpr Layout v3{1, 24, 32, {40, 48, 72, 80, 88, 96, 104, 112}, {40, 56, 64, 72, absent}, true, false};
constexpr Layout v4{1, absent, absent, {24, 32, 56, 64, 72, 80, 88, 96}, {24, 40, 48, 56, 60}, true, true};
constexpr Layout v5{8, absent, absent, {24, 32, 56, 64, 72, 80, 88, 96}, {24, 40, 48, 56, 60}, true, true};
// Versions 6 and 7 add fields behind those that are read: the kernel variant, the user's tag (v2.31 profiler_v7.h;
// RCCL's version 7 has no tag).
constexpr std::array<const Layout*, 7> layouts{&v1, &v2, &v3, &v4, &v5, &v5, &v5};

// Of version 1 (tag v2.23.4) and of nccl.h.
constexpr std::array<std::string_view, 8> functions{"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                                    "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr std::array<std::string_view, 7> algorithms{"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                                     "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> protocols{"LL", "LL128", "SIMPLE"};
constexpr std::array<std::string_view, 12> datatypes{"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                                     "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                                     "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

constexpr std::array elements{
    ElementType{"", "", 1},
    ElementType{"ncclInt8", "i8", 1},
    ElementType{"ncclUint8", "u8", 1},
    ElementType{"ncclInt32", "i32", 4},
    ElementType{"ncclUint32", "u32", 4},
    ElementType{"ncclInt64", "i64", 8},
    ElementType{"ncclUint64", "u64", 8},
    ElementType{"ncclFloat16", "f16", 2},
    ElementType{"ncclFloat32", "f32", 4},
    ElementType{"ncclFloat64", "f64", 8},
    ElementType{"ncclBfloat16", "bf16", 2},
    ElementType{"ncclFloat8e4m3", "f8", 1},
    ElementType{"ncclFloat8e5m2", "f8", 1},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> operations{{
    {"AllGather", "allgather"},
    {"AllReduce", "allreduce"},
    {"AlltoAll", "alltoall"},
    {"Broadcast", "broadcast"},
    {"Gather", "gather"},
    {"Recv", "recv"},
    {"Reduce", "reduce"},
    {"ReduceScatter", "reduce_scatter"},
    {"Scatter", "scatter"},
    {"SendRecv", "sendrecv"},
    {"Send", "send"},
}};

template <class T>
T read(const void* from, int offset, T otherwise = {}) {
  if (offset == absent) return otherwise;
  T value{};
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof value);
  return value;
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view{} : std::string_view{text}; }

template <std::size_t n>
std::string_view word(const void* from, int offset, const Layout& layout,
                      const std::array<std::string_view, n>& numbered) {
  if (layout.has_texts) return text_of(read<const char*>(from, offset));
  const auto number = read<std::uint8_t>(from, offset);
  return number < n ? numbered[number] : std::string_view{};
}

void read_coll(const void* from, const Layout& layout, Event& event) {
  event.sequence = static_cast<std::int64_t>(read<std::uint64_t>(from, layout.coll.sequence));
  event.function = word(from, layout.coll.function, layout, functions);
  event.count = read<std::uint64_t>(from, layout.coll.count);
  event.root = read<int>(from, layout.coll.root);
  event.datatype = word(from, layout.coll.datatype, layout, datatypes);
  event.channels = read<std::uint8_t>(from, layout.coll.channels);
  event.algorithm = word(from, layout.coll.algorithm, layout, algorithms);
  event.protocol = word(from, layout.coll.protocol, layout, protocols);
}

void read_p2p(const void* from, const Layout& layout, Event& event) {
  event.function = word(from, layout.p2p.function, layout, functions);
  event.datatype = word(from, layout.p2p.datatype, layout, datatypes);
  event.count = read<std::uint64_t>(from, layout.p2p.count);
  event.root = read<int>(from, layout.p2p.peer);
  if (layout.p2p.channels != absent) event.channels = read<std::uint8_t>(from, layout.p2p.channels);
}

void read_proxy_op(const void* from, Event& event) {
  event.process = read<int>(from, 24);
  event.channel = read<std::uint8_t>(from, 28);
  event.root = read<int>(from, 32);
  event.steps = read<int>(from, 36);
  event.chunk_bytes = read<int>(from, 40);
  event.is_send = read<int>(from, 44) != 0;
}

void read_ce_coll(const void* from, Event& event) {
  event.sequence = static_cast<std::int64_t>(read<std::uint64_t>(from, 24));
  event.function = text_of(read<const char*>(from, 32));
  event.count = read<std::uint64_t>(from, 56);
  event.root = read<int>(from, 64);
  event.datatype = text_of(read<const char*>(from, 72));
  event.algorithm = "copy engine";
}

}  // namespace

Event read_event(const void* descriptor, int version) {
  const Layout& layout = *layouts[static_cast<std::size_t>(std::clamp<int>(version, 1, layouts.size()) - 1)];
  Event event;
  // One byte in the first versions: the seven behind it are padding.
  event.type = layout.type_bytes == 1 ? read<std::uint8_t>(descriptor, 0) : read<std::uint64_t>(descriptor, 0);
  event.parent = read<const void*>(descriptor, 8);
  if (event.type == event_type::coll || event.type == event_type::p2p) {
    event.communicator_name = read<const char*>(descriptor, layout.name);
    event.communicator_hash = read<std::uint64_t>(descriptor, layout.hash);
  }
  if (event.type == event_type::coll) read_coll(descriptor, layout, event);
  if (event.type == event_type::p2p) read_p2p(descriptor, layout, event);
  if (event.type == event_type::proxy_op) read_proxy_op(descriptor, event);
  if (event.type == event_type::kernel_channel) {
    event.channel = read<std::uint8_t>(descriptor, 24);
    if (layout.has_times) event.gpu_time = read<std::uint64_t>(descriptor, 32);
  }
  if (event.type == event_type::coll_api || event.type == event_type::p2p_api) {
    event.datatype = text_of(read<const char*>(descriptor, 40));
    event.is_captured = read<std::uint8_t>(descriptor, event.type == event_type::coll_api ? 64 : 56) != 0;
  }
  if (event.type == event_type::ce_coll) read_ce_coll(descriptor, event);
  return event;
}

std::uint64_t read_state_number(const void* arguments, int version, State state) {
  if (arguments == nullptr) return 0;
  const bool of_step = state != State::kernel_channel_stop;
  // Up to version 3 steps tell nothing of their own; what was moved stands at the operation.
  if (version < 4) return of_step ? read<std::uint64_t>(arguments, 0) : 0;
  return read<std::uint64_t>(arguments, 0);
}

std::string_view operation_from(std::string_view function) {
  const auto* const found =
      std::ranges::find(operations, function, &std::pair<std::string_view, std::string_view>::first);
  return found == operations.end() ? function : found->second;
}

std::size_t function_index(std::string_view function) {
  static_assert(operations.size() + 1 == function_count);
  const auto* const found =
      std::ranges::find(operations, function, &std::pair<std::string_view, std::string_view>::first);
  return static_cast<std::size_t>(found - operations.begin());
}

std::uint32_t element_type_index(std::string_view nccl_name) {
  const auto* const found = std::ranges::find(elements, nccl_name, &ElementType::nccl_name);
  return found == elements.end() ? 0 : static_cast<std::uint32_t>(found - elements.begin());
}

const ElementType& element_type(std::uint32_t index) { return elements[index < elements.size() ? index : 0]; }

}  // namespace rankscope::inject::nccl
