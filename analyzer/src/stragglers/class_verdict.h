// The stragglers of one peer class (metrics.md 9.2 - 9.7).
#pragma once

#include "rankscope/analyzer/blame/section.h"
#include "split/peers.h"
#include "stragglers/by_collectives.h"
#include "stragglers/kind.h"
#include "stragglers/own_time_windows.h"

namespace rankscope::analyzer {

/// The stalls of one rank.
struct Stalls {
  std::size_t peer = 0;
  std::vector<std::size_t> steps;     ///< positions among the counted steps
  std::int64_t excess_ns = 0;         ///< together, beyond the rank's own median
  std::optional<std::size_t> period;  ///< in counted steps
};

/// Ranks with transient stalls. `wall_ns` is the time of all counted steps of the job.
[[nodiscard]] std::vector<Stalls> find_stalls(const OwnTimes& times, std::int64_t wall_ns);

/// Judges the ranks of one class: persistent first, then transient; first match wins.
class ClassVerdict {
 public:
  /// All arguments must outlive the verdict. The class has at least two ranks with at least one step.
  ClassVerdict(const PeerClass& peers, const StepsSection& steps, const CollectiveFacts& facts);

  [[nodiscard]] std::vector<Straggler> stragglers() const;
  [[nodiscard]] const WindowVerdicts& windows() const { return windows_; }

 private:
  [[nodiscard]] std::optional<Straggler> persistent_by_windows(std::size_t peer) const;
  [[nodiscard]] std::optional<Straggler> persistent_since(std::size_t peer) const;
  [[nodiscard]] Straggler row_over(std::size_t peer, std::span<const std::size_t> steps, const OwnTimeComparison& size,
                                   std::string_view where) const;
  [[nodiscard]] StepBlock part_of(std::size_t peer, double slowdown) const;
  void limit(Straggler& row, const StepBlock& part) const;
  [[nodiscard]] std::optional<Straggler> persistent_by_arrivals(std::size_t peer) const;
  [[nodiscard]] std::optional<Straggler> persistent_by_collectives(std::size_t peer) const;
  [[nodiscard]] std::vector<Straggler> transient() const;
  [[nodiscard]] Straggler transient_row(const Stalls& stalls) const;
  [[nodiscard]] Straggler row_for(std::size_t peer, Persistence persistence) const;
  void grade(Straggler& row, double ratio) const;

  const PeerClass& peers_;
  const StepsSection& steps_;
  const Arrivals& arrivals_;
  const CollectiveFacts& facts_;
  OwnTimes times_;
  std::vector<std::int64_t> counted_;
  WindowVerdicts windows_;
};

}  // namespace rankscope::analyzer
