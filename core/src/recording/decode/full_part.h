// From when on a recording that was thinned out has all events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankscope/core/time.h"
#include "recording/format/segment_clock.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// What of one segment is used as events; of the time before, only sums are used.
struct FullPart {
  std::optional<RunTime> since{};            ///< nothing: all of it
  std::optional<std::int64_t> first_step{};  ///< steps with a lower number are only there as sums
  /// Of a process that was not thinned out while others were: made of its own events, so that all ranks have the same
  /// of the steps before.
  std::vector<StepSums> own_sums{};
  /// Of such a process: steps that have no sums although their events are left out. By begin.
  std::vector<TimeRange> without_sums{};
};

/// One for each segment. Chunks of different ranks are given up at different times; what is used begins with the same
/// step on all ranks that have sums and ran at the same time, so that no operation lacks its partners. Ranks without
/// steps that ran at the same time begin with the same moment.
[[nodiscard]] std::vector<FullPart> full_parts(std::span<const SegmentFile* const> segments,
                                               std::span<const SegmentClock> clocks);

}  // namespace rankscope::recording
