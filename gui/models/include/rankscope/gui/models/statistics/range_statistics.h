// What took the time of a range: by what ranks did, and by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "rankscope/analyzer/blame/closer_look.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {

/// Finds the spans of a lane that touch a range without reading those before it, also where long ones reach into it.
class LaneBlocks {
 public:
  explicit LaneBlocks(const Run& run);

  /// visit(span) in their order; false from it ends the walk.
  template <class Visit>
  void over(const Run& run, const Lane& lane, TimeRange range, Visit visit) const;

 private:
  static constexpr std::size_t block = 256;
  std::vector<RunTime> latest_end_;         // of each block of spans
  std::vector<std::size_t> first_of_lane_;  // place of the lane's first block
};

/// All spans of one name and kind.
struct NameTimes {
  StringId name;
  SpanKind kind = SpanKind::user;
  std::int64_t count = 0;       ///< that touch the range
  std::int64_t total_ns = 0;    ///< inside the range; a call inside a call of the same name is not counted again
  std::int64_t own_ns = 0;      ///< inside the range, without what is nested in it
  std::int64_t longest_ns = 0;  ///< of one of them, inside the range

  bool operator==(const NameTimes&) const = default;
};

struct RankTimes {
  RankId rank;
  analyzer::TimeSplit split;  ///< adds up to the range
};

struct RangeQuestion {
  TimeRange range;
  std::vector<RankId> ranks{};  ///< ascending; empty: all, but beside lanes none, as those of processes without rank
  std::vector<LaneId> lanes{};  ///< names are of these only; empty: all of the ranks

  [[nodiscard]] std::span<const RankId> ranks_of(const Run& run) const;
  bool operator==(const RangeQuestion&) const = default;
};

struct RangeAnswer {
  RangeQuestion question;
  std::vector<RankTimes> ranks;  ///< empty as long as there is no closer look
  std::vector<NameTimes> names;  ///< the longest own time first
};

/// What answers are made from.
struct RangeSource {
  std::shared_ptr<const Run> run;
  std::shared_ptr<const LaneBlocks> blocks;
  std::shared_ptr<const analyzer::CloserLook> look;  ///< may be null
};

/// Nothing if it was stopped.
[[nodiscard]] std::optional<RangeAnswer> answer(const RangeSource& source, const RangeQuestion& question,
                                                const std::stop_token& stop);

template <class Visit>
void LaneBlocks::over(const Run& run, const Lane& lane, TimeRange range, Visit visit) const {
  const std::span<const Span> spans = run.spans_of(lane);
  const std::size_t first = first_of_lane_[run.id_of(lane).index()];
  for (std::size_t begin = 0; begin < spans.size(); begin += block) {
    if (spans[begin].time.begin >= range.end) return;
    if (latest_end_[first + begin / block] <= range.begin) continue;
    for (const Span& span : spans.subspan(begin, std::min(block, spans.size() - begin)))
      if (span.time.begin < range.end && span.time.end > range.begin && !visit(span)) return;
  }
}

}  // namespace rankscope::gui
