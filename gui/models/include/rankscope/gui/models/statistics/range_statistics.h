// What took the time of a range: by what ranks did, and by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "rankscope/analyzer/blame/closer_look.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

class LaneBlocks;

/// All spans of one name and kind.
struct NameTimes {
  StringId name;
  SpanKind kind = SpanKind::user;
  std::int64_t count = 0;       ///< that touch the range
  std::int64_t total_ns = 0;    ///< inside the range; a call inside a call of the same name is not counted again
  std::int64_t self_ns = 0;     ///< inside the range, without what is nested in it
  std::int64_t longest_ns = 0;  ///< of one of them, inside the range

  bool operator==(const NameTimes&) const = default;
};

/// Where the time of one rank went in the range.
struct RankTimes {
  RankId rank;
  analyzer::TimeSplit split;  ///< adds up to the range
};

/// A stretch of time, and what of the run is looked at in it.
struct RangeQuestion {
  TimeRange range;
  std::vector<RankId> ranks{};  ///< ascending; empty: all, but beside lanes none, as those of processes without rank
  std::vector<LaneId> lanes{};  ///< names are of these only; empty: all of the ranks

  [[nodiscard]] std::span<const RankId> ranks_of(const Run& run) const;
  bool operator==(const RangeQuestion&) const = default;
};

/// What ran in the range; it names its question, since the user may have asked another one since.
struct RangeAnswer {
  RangeQuestion question;
  std::vector<RankTimes> ranks;  ///< empty as long as there is no closer look
  std::vector<NameTimes> names;  ///< the longest self time first
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

}  // namespace rankscope::gui
