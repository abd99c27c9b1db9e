// The global half of launches: rows for each rank (metrics.md 4.4 to 4.6).
#pragma once

#include <string>

#include "launches/local.h"
#include "rankscope/analyzer/launches/section.h"
#include "rankscope/analyzer/section.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// Ranks are added in the order of their numbers.
class LaunchesMerge {
 public:
  void add(const CountedRank& rank, const LaunchesPart& part);
  /// Missing, and why, where nothing that counts has a launch.
  [[nodiscard]] Section<LaunchesSection> finish(std::string why_none) &&;

 private:
  LaunchesSection section_;
};

/// Why nothing that counts has a launch, in a run that has any or none.
enum class Launches : std::uint8_t { none_recorded, recorded };
[[nodiscard]] std::string why_no_launches(Launches launches);

}  // namespace rankscope::analyzer
