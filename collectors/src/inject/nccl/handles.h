// What NCCL gets as the handle of an event: a number whose low bits say what it stands for. Operations, groups and
// calls need no memory.
#pragma once

#include <cstdint>

#include "inject/nccl/layout.h"

namespace rankscope::inject::nccl {

/// Handles are numbers, never addresses: NCCL keeps some longer than it should. 0 is none.
using Handle = std::uint64_t;

enum class Tag : std::uint8_t { nothing = 0, operation = 1, call = 2, slot = 3, group = 4 };
inline constexpr unsigned tag_bits = 3;

inline Handle tagged(Tag tag, std::uint64_t value) { return value << tag_bits | static_cast<std::uint64_t>(tag); }
inline Tag tag_of(Handle handle) { return static_cast<Tag>(handle & ((1U << tag_bits) - 1)); }
inline std::uint64_t value_of(Handle handle) { return handle >> tag_bits; }
inline Handle parent_of(const Event& event) { return reinterpret_cast<std::uintptr_t>(event.parent); }

// Of a call of NCCL's API: the number of the element type, whether a CUDA graph captures the call, the thread that made
// the call (Linux numbers threads up to 2^22), and when, in us that start again every 17 minutes.

inline constexpr std::uint64_t element_mask = 0xFF, captured = 1U << 8;
inline constexpr unsigned thread_shift = 9, thread_bits = 22, time_shift = thread_shift + thread_bits, time_bits = 30;
inline constexpr std::uint64_t thread_mask = (1U << thread_bits) - 1, time_mask = (1U << time_bits) - 1;
static_assert(time_shift + time_bits + tag_bits == 64);

/// `thread` 0: not known.
inline Handle call_handle(const Event& call, std::int64_t thread, std::int64_t now_ns) {
  const auto us = static_cast<std::uint64_t>(now_ns / 1000) & time_mask;
  const auto by = static_cast<std::uint64_t>(thread);
  return tagged(Tag::call, element_type_index(call.datatype) | (call.is_captured ? captured : 0) |
                               (by > thread_mask ? 0 : by << thread_shift) | us << time_shift);
}
/// 0: the event belongs to no call.
inline std::uint32_t element_type_of_call(const Event& event) {
  const Handle parent = parent_of(event);
  return tag_of(parent) == Tag::call ? static_cast<std::uint32_t>(value_of(parent) & element_mask) : 0;
}
/// Who made the call that an event belongs to, and how long ago.
struct Caller {
  std::int64_t thread = 0;  ///< 0: not known
  std::int64_t ago_ns = 0;
};
inline Caller caller_of(const Event& event, std::int64_t now_ns) {
  const Handle parent = parent_of(event);
  if (tag_of(parent) != Tag::call) return {};
  const std::uint64_t value = value_of(parent);
  const std::uint64_t ago_us = (static_cast<std::uint64_t>(now_ns / 1000) - (value >> time_shift)) & time_mask;
  return {static_cast<std::int64_t>(value >> thread_shift & thread_mask), static_cast<std::int64_t>(ago_us) * 1000};
}

// Of the group that NCCL makes of what it launches at a time.

inline constexpr std::uint64_t launched_once = 1, launched_again = 2;

/// Never 0, also where nothing is stored: up to 2.27, NCCL reports nothing in a group without a handle
/// (ncclProfilerStartTaskEvents). `held` is the handle that NCCL still has of the same group: only the plan of a CUDA
/// graph is launched again, others are new and zeroed (ncclLaunchPrepare, ncclMemoryPoolAlloc).
inline Handle group_handle(Handle held) {
  return tagged(Tag::group, tag_of(held) == Tag::group ? launched_again : launched_once);
}

/// The parent is the call from version 5 on, before that the group, which does not show the first launch.
inline bool is_of_graph(const Event& event) {
  const Handle parent = parent_of(event);
  return (tag_of(parent) == Tag::call && (value_of(parent) & captured) != 0) ||
         (tag_of(parent) == Tag::group && value_of(parent) == launched_again);
}

}  // namespace rankscope::inject::nccl
