// Where the steps of a thread begin and end, from nothing but the steps of its optimizer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rankscope::inject {

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

}  // namespace rankscope::inject
