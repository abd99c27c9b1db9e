// The stragglers of one peer class (metrics.md 9.2 - 9.7).
#pragma once

#include "stragglers/arrivals.h"
#include "stragglers/kind.h"
#include "stragglers/own_time_windows.h"
#include "stragglers/transient.h"

namespace rankscope::analyzer {

/// Judges the ranks of one class: persistent first, then transient; first match wins.
class ClassVerdict {
 public:
  /// All arguments must outlive the verdict. The class has at least two ranks with at least one step.
  ClassVerdict(const PeerClass& peers, const StepsSection& steps, const Arrivals& arrivals);

  [[nodiscard]] std::vector<Straggler> stragglers() const;
  [[nodiscard]] const WindowVerdicts& windows() const { return windows_; }

 private:
  [[nodiscard]] std::optional<Straggler> persistent_by_windows(std::size_t peer) const;
  [[nodiscard]] std::optional<Straggler> persistent_since(std::size_t peer) const;
  [[nodiscard]] Straggler row_over(std::size_t peer, std::span<const std::size_t> steps, const Comparison& size,
                                   std::string_view where) const;
  [[nodiscard]] StepBlock part_of(std::size_t peer, double slowdown) const;
  void limit(Straggler& row, const StepBlock& part) const;
  [[nodiscard]] std::optional<Straggler> persistent_by_arrivals(std::size_t peer) const;
  [[nodiscard]] std::vector<Straggler> transient() const;
  [[nodiscard]] Straggler transient_row(const Stalls& stalls) const;
  [[nodiscard]] Straggler row_for(std::size_t peer, Persistence persistence) const;
  void grade(Straggler& row, double ratio) const;

  const PeerClass& peers_;
  const StepsSection& steps_;
  const Arrivals& arrivals_;
  OwnTimes times_;
  std::vector<std::int64_t> counted_;
  WindowVerdicts windows_;
};

}  // namespace rankscope::analyzer
