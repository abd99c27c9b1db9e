// For each member of a matched operation what its rank had done when it began and ended, and what it waited.
#pragma once

#include <vector>

#include "blame/spent_time.h"
#include "rankscope/analyzer/report.h"
#include "split/exposed_waits.h"

namespace rankscope::analyzer {

struct MemberTime {
  Spent at_start{};
  Spent at_end{};
  std::int64_t exposed_ns = 0;  ///< waiting that nothing hides
  std::int64_t counted_ns = 0;  ///< of it in the counted windows, of ranks that were asked for and may be summed
};

/// The begin of a step of a rank, or of its recording.
struct Beginning {
  RunTime time;
  Spent spent{};
};

class MemberTimes {
 public:
  MemberTimes(const Run& run, const Section<StepsSection>& steps, const Matching& matching,
              const ReportOptions& options);

  [[nodiscard]] const MemberTime& of(std::uint32_t row) const { return times_[row]; }
  /// Where the step in which this member began began on its rank.
  [[nodiscard]] Beginning beginning_of(std::uint32_t row) const;
  /// Rows of a rank that waited exposed, by begin.
  [[nodiscard]] const std::vector<std::uint32_t>& waits_of(RankId rank) const;

 private:
  void add_rank(RankId rank, const Section<StepsSection>& steps, const Matching& matching, bool counts);

  const Run& run_;
  std::vector<MemberTime> times_;                  // by row
  std::vector<std::vector<std::uint32_t>> waits_;  // by place of the rank
  std::vector<std::vector<Beginning>> begins_;     // by place of the rank, ascending; the first is its recording
};

/// Place of a rank of the run among its ranks.
[[nodiscard]] std::size_t place_of(const Run& run, RankId rank);

}  // namespace rankscope::analyzer
