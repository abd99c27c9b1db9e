// Which operations a report shows: those of the steps and ranks that its reader asked for.
#pragma once

#include "collectives/find.h"
#include "rankscope/analyzer/collectives/section.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Members that began in a counted step and have no end, or no partner although its rank was recorded.
[[nodiscard]] std::int64_t unknown_in_steps(const Run& run, const Matching& matching, const StepsSection& steps);

/// The rows of Run::collectives() of the ranks asked for that began in the steps asked for.
[[nodiscard]] RowSet rows_asked_for(const Run& run, const CollectivesSection& section,
                                    const Section<StepsSection>& steps, const ReportOptions& options);

/// The operations that began in the steps asked for and in which a rank asked for took part; waits, matched and
/// unmatched members are those of the ranks asked for.
[[nodiscard]] Section<CollectivesSection> collectives_asked_for(const Run& run, const ClockTrust& clocks,
                                                                const Matching& matching,
                                                                const Section<StepsSection>& steps,
                                                                const ReportOptions& options);

}  // namespace rankscope::analyzer
