// What ran on the accelerators of a rank, and which instant is charged to which activity (metrics.md C8).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "math/interval_set.h"
#include "rankscope/analyzer/split/activity.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

/// Kernel, graph replay, copy, memset or communication.
struct Activity {
  TimeRange time;
  SpanId span;
  ActivityClass kind = ActivityClass::compute;
  bool counted = false;           ///< began in a counted window
  std::int64_t exclusive_ns = 0;  ///< time of the counted windows that is charged to it
};

/// Kinds of spans that keep an accelerator busy, on its lanes.
[[nodiscard]] bool is_activity(SpanKind kind);
/// Of the process that stands for the rank, by begin, then id; neither counted nor charged.
[[nodiscard]] std::vector<Activity> activities_of(const Run& run, RankId rank);

struct DeviceWork {
  std::vector<Activity> activities;                    ///< of activities_of
  std::array<IntervalSet, activity_class_count> sets;  ///< when each class ran, inside windows or not
};

/// The same activities from which the time split is made: their exclusive time adds up to that which is not idle.
[[nodiscard]] DeviceWork device_work(const Run& run, RankId rank, const CountedWindows& windows);

}  // namespace rankscope::analyzer
