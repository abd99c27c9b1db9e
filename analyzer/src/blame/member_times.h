// For each member of a matched operation what its rank had done when it began and ended, and what it waited.
#pragma once

#include <array>
#include <vector>

#include "rankscope/analyzer/blame/section.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/steps/section.h"
#include "split/layers.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

struct ExposedWait {
  std::uint32_t row = 0;        ///< of Run::collectives()
  std::int64_t ns = 0;          ///< anywhere in the recording
  std::int64_t counted_ns = 0;  ///< in the counted windows
};

/// Members that waited, by begin. Each instant is charged to one of them, the one that began first; the counted ones
/// add up to the rank's exposed waiting in these windows.
[[nodiscard]] std::vector<ExposedWait> exposed_waits(const Run& run, RankId rank, const Matching& matching,
                                                     const Layers& layers, const CountedWindows& windows);

/// By DelayPart, but what stands last is not unexplained: it is waiting for other ranks in matched operations.
using Spent = std::array<std::int64_t, delay_part_count>;
inline constexpr std::size_t spent_waiting = delay_part_count - 1;

/// Each instant is charged once, as in the time split (C8). The times must ascend; the first one has nothing before it.
[[nodiscard]] std::vector<Spent> spent_before(const Layers& layers, std::span<const RunTime> times);

/// What a thread of a CPU rank did between the call of a send or receive and its wait for the end (metrics.md 9.1).
struct WorkDuringPair {
  std::int64_t compute_ns = 0;
  std::int64_t host_ns = 0;
};

/// As spent_before, but only such work.
[[nodiscard]] std::vector<WorkDuringPair> pair_work_before(const Layers& layers, std::span<const RunTime> times);

struct MemberTime {
  Spent at_start{};
  Spent at_end{};
  WorkDuringPair work{};        ///< between both
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

}  // namespace rankscope::analyzer
