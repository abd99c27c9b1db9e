// When a thread that sends and receives did something else (metrics.md 2, K6).
#pragma once

#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// The begins and ends of what a thread recorded. In traces of PyTorch, a send or receive lasts from its call until the
/// program has waited for it, and the thread continues in between.
class ThreadMoments {
 public:
  ThreadMoments(const Run& run, const Lane& lane);

  /// The latest moment of the call at which the thread certainly was not blocked in it: its own start, or the begin or
  /// end of anything else.
  [[nodiscard]] RunTime free_until(const TimeRange& call) const;

 private:
  std::vector<RunTime> moments_;  // ascending
};

/// True for a thread of the program itself. Lanes on which only communication was recorded show when operations ran,
/// not when a thread was blocked.
[[nodiscard]] bool is_program_thread(const Run& run, const Lane& lane);

}  // namespace rankscope::analyzer
