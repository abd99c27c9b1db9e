// Hosts that have more to do than CPUs: there, which rank is slower may be the scheduler's choice (metrics.md 9.10).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "rankscope/analyzer/stragglers/section.h"
#include "rankscope/core/model/run_parts.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Ranks on them differ by chance by up to this, for a whole run.
inline constexpr double crowded_slowdown = 1.5;

class CrowdedHosts {
 public:
  /// Reads the kernel's pressure stall information from the first to the last step.
  CrowdedHosts(const Run& run, const StepsSection& steps);

  [[nodiscard]] bool any() const { return !shares_.empty(); }
  /// True if the rank runs on one of them.
  [[nodiscard]] bool have(RankId rank) const;
  /// True if the rank runs on one of them and has no accelerator: all that it does needs a CPU.
  [[nodiscard]] bool compute_for(RankId rank) const;
  /// True where the rank is so little slower, and in such a way, that the want of CPUs explains it.
  [[nodiscard]] bool explain(const Straggler& row) const;
  /// "on host n1, at least one task was waiting for a CPU 98 % of the time"; of the worst of them.
  [[nodiscard]] std::string text() const;

 private:
  const Run& run_;
  std::map<StringId, double> shares_;  ///< of the time, by host
};

}  // namespace rankscope::analyzer
