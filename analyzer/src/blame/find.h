// Who made others wait, with what, and where that began (metrics.md 10).
#pragma once

#include <span>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/blame/section.h"

namespace rankscope::analyzer {

struct BlameResult {
  Section<BlameSection> section = unavailable("not computed");
  std::vector<std::int64_t>
      waits_ns;  ///< what each operation of the matching adds to total_ns; empty without a section
};

/// Of what the ranks asked for waited in the steps asked for, whoever caused it. `rows` are those of the time split.
[[nodiscard]] BlameResult find_blame(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps,
                                     const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                     const ReportOptions& options);

/// Says how much of the waiting costs nothing now (10.4), by operation of the matching.
void set_slack(const Run& run, std::span<const Operation> operations, const std::vector<bool>& operation_has_slack,
               std::span<const std::int64_t> waits_ns, BlameSection& blame);

}  // namespace rankscope::analyzer
