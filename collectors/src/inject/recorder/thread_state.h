// The recorder's side of one thread of the host program: its pen, and which of its open ranges are stored.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "inject/recorder/window.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::inject {

/// Ranges nest per (thread, domain). A domain is any address of ours that is a multiple of 8.
using DomainKey = const void*;

class OptimizerSteps;

/// NVTX lets the stacks of two domains interleave on one thread; a recording nests strictly. A range that ends under
/// another one's stays open until that one ends, too, and is counted. What is outside the window is not stored, but its
/// place is kept, so that push and pop stay balanced.
class ThreadState {
 public:
  ThreadState();
  ~ThreadState();
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;
  /// Returns the 0-based level of the new range.
  int push(DomainKey domain, SpanKind kind, std::string_view name, WindowControl::MarkedBy marked_by);
  /// Returns the level of the range that ended, or -1 without one.
  int pop(DomainKey domain);
  [[nodiscard]] bool any_open() const { return depth_ > 0; }
  /// See rankscope_api_v1: from here on the recorder makes the step spans of this thread.
  void optimizer_stepped(std::int64_t n);
  /// False outside the window: nothing is stored, and nothing may describe it.
  bool mark(std::string_view name) {
    if (!gate.open.load(std::memory_order_relaxed)) return false;
    pen_->mark(name);
    return true;
  }
  /// True if an attribute would land on the innermost range of that domain.
  [[nodiscard]] bool takes_attributes(DomainKey domain) const {
    return depth_ > 0 && depth_ <= max_depth && open_[depth_ - 1] == (bits_of(domain) | stored);
  }
  [[nodiscard]] recording::ThreadWriter& pen() { return *pen_; }
  /// For the calling thread.
  void give(std::unique_ptr<recording::ThreadWriter> pen);
  /// As gettid() tells it.
  [[nodiscard]] std::int64_t os_thread() const { return os_thread_; }
  /// In the child of a fork: the pen belongs to the parent's file. What is open there is not stored here.
  void forget_parent();

 private:
  static constexpr std::uint32_t max_depth = 256;
  static constexpr std::uintptr_t stored = 1;
  static constexpr std::uintptr_t ended = 2;
  static std::uintptr_t bits_of(DomainKey domain) { return reinterpret_cast<std::uintptr_t>(domain); }

  bool begin_step(std::string_view name, WindowControl::MarkedBy marked_by);
  void close_top();
  int pop_range(DomainKey domain);
  void turn_step();
  void end_step(std::int64_t index);
  int close_below(DomainKey domain);

  std::unique_ptr<recording::ThreadWriter> pen_;
  std::int64_t os_thread_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t step_level_ = no_step;  // level of the open step that moves the window
  static constexpr std::uint32_t no_step = 0xFFFFFFFF;
  std::array<std::uintptr_t, max_depth> open_{};
  std::unique_ptr<OptimizerSteps> steps_;  // only where an optimizer tells them
};

/// A page the kernel zeroes in the child of any fork, also of a bare clone() that runs no handler.
struct ForkPage {
  std::atomic<std::uint64_t> generation;
};
/// Set once, while the first events may already be on their way.
extern constinit std::atomic<ForkPage*> fork_page;
inline std::atomic<std::uint64_t>& generation() { return fork_page.load(std::memory_order_acquire)->generation; }

/// What a thread finds without a call: valid while the generation is that of the page.
struct ThreadSlot {
  ThreadState* state;
  std::uint64_t generation;
  bool entering;
};
inline constexpr std::uint64_t never_entered = ~std::uint64_t{0};
/// The library may be loaded by dlopen: initial-exec takes its 24 bytes from the loader's reserve and saves a call.
extern constinit thread_local ThreadSlot slot __attribute__((tls_model("initial-exec")));

/// The slow path: first event of a thread, of a process, after a fork. Null: nothing is recorded.
ThreadState* enter() noexcept;

/// State of the calling thread, or null where nothing is recorded.
inline ThreadState* here() {
  if (slot.generation == generation().load(std::memory_order_relaxed)) [[likely]]
    return slot.state;
  return enter();
}

/// Nothing may throw into the host program. What could not be stored is counted.
void count_failure() noexcept;
template <class Function>
auto guarded(Function&& function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    count_failure();
    return decltype(function())();
  }
}

}  // namespace rankscope::inject
