#include "inject/recorder/thread_state.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "inject/recorder/recorder.h"
#include "rankscope/core/step_names.h"

namespace rankscope::inject {

// Where the steps of a thread begin and end, from nothing but the steps of its optimizer.

/// A recording nests strictly, and the optimizer steps inside ranges: its own, perhaps one of the iteration, one of the
/// whole loop. Between the first two calls the outermost level that the program comes back to is learned; from the
/// second on a step ends, and the next begins, when the program is back on that level.
class OptimizerSteps {
 public:
  static const void* domain() {
    alignas(8) static constexpr char steps[8] = {};
    return steps;
  }
  /// Told as the index of a step that is none: the loop ended in it.
  static constexpr std::int64_t abandoned = -1;

  /// The optimizer has made step n with `depth` ranges open. True: turn now.
  bool stepped(std::int64_t n, std::uint32_t depth) {
    if (state_ == State::not_needed) return false;
    n_ = n;
    if (state_ == State::unknown) {
      state_ = State::learning;
      lowest_ = depth;
      return false;
    }
    if (state_ == State::learning) base_ = lowest_;
    state_ = State::known;
    due_ = true;
    return after_pop(depth);
  }
  /// `depth` ranges are open after one has ended. True: turn now.
  bool after_pop(std::uint32_t depth) {
    lowest_ = std::min(lowest_, depth);
    return due_ && depth == base_ + (open_ ? 1 : 0);
  }
  /// True if the step is the innermost of `depth` open ranges.
  [[nodiscard]] bool is_top(std::uint32_t depth) const { return open_ && depth == base_ + 1; }
  /// True if a range that ends now, though the step is the innermost one, is one around the step.
  [[nodiscard]] bool is_left(std::uint32_t depth) const { return is_top(depth) && base_ > 0; }
  [[nodiscard]] std::int64_t ended_step() const { return n_; }

  [[nodiscard]] bool is_learning() const { return state_ == State::learning; }
  /// The program names its steps itself.
  void leave() { state_ = State::not_needed; }

  void begun(std::uint32_t depth) {
    state_ = State::known;
    base_ = depth;
    open_ = true;
    due_ = false;
  }
  /// Without a turn after it, the level is learned anew.
  void ended() {
    open_ = false;
    due_ = false;
    state_ = State::unknown;
  }

 private:
  enum class State : std::uint8_t { unknown, learning, known, not_needed };
  State state_ = State::unknown;
  bool due_ = false;
  bool open_ = false;
  std::int64_t n_ = 0;
  std::uint32_t lowest_ = 0;
  std::uint32_t base_ = 0;  ///< ranges that are open around a step
};

ThreadState::ThreadState() = default;
ThreadState::~ThreadState() = default;

void ThreadState::give(std::unique_ptr<recording::ThreadWriter> pen) {
  pen_ = std::move(pen);
  os_thread_ = gettid();
}

int ThreadState::push(DomainKey domain, SpanKind kind, std::string_view name, WindowControl::MarkedBy marked_by) {
  if (gate.counts_steps.load(std::memory_order_relaxed) && step_level_ == no_step) [[unlikely]] {
    const bool is_step =
        marked_by == WindowControl::MarkedBy::annotate ? kind == SpanKind::step : number_of_step_name(name).has_value();
    if (is_step && begin_step(name, marked_by)) step_level_ = depth_;
  }
  if (steps_ != nullptr && steps_->is_learning() && (kind == SpanKind::step || number_of_step_name(name))) [[unlikely]]
    steps_->leave();
  const std::uint32_t level = depth_++;
  if (level >= max_depth) [[unlikely]] {
    count(Trouble::ranges_too_deep);
    return static_cast<int>(level);
  }
  if (gate.open.load(std::memory_order_relaxed)) [[likely]] {
    open_[level] = bits_of(domain) | stored;
    pen_->push(kind, name);
  } else {
    open_[level] = bits_of(domain);
  }
  return static_cast<int>(level);
}

bool ThreadState::begin_step(std::string_view name, WindowControl::MarkedBy marked_by) {
  if (!window_control.begin_step(marked_by)) return false;
  if (!gate.open.load(std::memory_order_relaxed)) pen_->mark(name);  // steps outside the window leave a mark
  return true;
}

int ThreadState::pop(DomainKey domain) {
  if (steps_ == nullptr) [[likely]]
    return pop_range(domain);
  // A range that began before the step ends first: the program's loop has ended, or is another one from here on.
  if (steps_->is_left(depth_)) end_step(OptimizerSteps::abandoned);
  const int level = pop_range(domain);
  if (steps_->after_pop(depth_)) turn_step();
  return level;
}

int ThreadState::pop_range(DomainKey domain) {
  if (depth_ == 0) [[unlikely]] {
    if (gate.open.load(std::memory_order_relaxed)) pen_->pop();  // the reader counts pops without a push
    return -1;
  }
  const std::uint32_t level = depth_ - 1;
  if (level >= max_depth) [[unlikely]] {
    --depth_;
    return static_cast<int>(level);
  }
  if ((open_[level] & ~(stored | ended)) != bits_of(domain)) [[unlikely]]
    return close_below(domain);
  close_top();
  return static_cast<int>(level);
}

void ThreadState::close_top() {
  do {
    --depth_;
    if ((open_[depth_] & stored) != 0) [[likely]]
      pen_->pop();
    if (depth_ == step_level_) [[unlikely]] {
      step_level_ = no_step;
      window_control.end_step();
    }
  } while (depth_ > 0 && (open_[depth_ - 1] & ended) != 0);
}

int ThreadState::close_below(DomainKey domain) {
  for (std::uint32_t level = depth_ - 1; level-- > 0;) {
    if ((open_[level] & ~stored) != bits_of(domain)) continue;
    open_[level] |= ended;
    count(Trouble::ranges_interleaved);
    return static_cast<int>(level);
  }
  return -1;
}

void ThreadState::optimizer_stepped(std::int64_t n) {
  if (n < 0) {
    if (steps_ != nullptr && steps_->is_top(depth_)) end_step(OptimizerSteps::abandoned);
    return;
  }
  if (steps_ == nullptr) steps_ = std::make_unique<OptimizerSteps>();
  if (steps_->stepped(n, depth_)) turn_step();
}

/// One step ends and the next begins, where the program is outside of all ranges of a step.
void ThreadState::turn_step() {
  if (steps_->is_top(depth_)) end_step(steps_->ended_step());
  steps_->begun(depth_);
  push(OptimizerSteps::domain(), SpanKind::step, "step", WindowControl::MarkedBy::annotate);
}

/// The index is written last, so that a step that is cut off has none.
void ThreadState::end_step(std::int64_t index) {
  steps_->ended();
  if (takes_attributes(OptimizerSteps::domain())) pen_->attribute("index", index);
  pop_range(OptimizerSteps::domain());
}

void ThreadState::forget_parent() {
  steps_.reset();
  // Leaked on purpose: its destructor would write into the parent's file.
  [[maybe_unused]] const auto* of_parent = pen_.release();
  for (std::uint32_t level = 0; level < depth_ && level < max_depth; ++level) open_[level] &= ~stored;
}

}  // namespace rankscope::inject
