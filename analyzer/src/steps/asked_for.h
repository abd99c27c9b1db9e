// What of a report is shown: the steps and ranks that its reader asked for. The analyses look at all ranks all the
// same, since a rank is slow only beside its peers and waits for whoever is late; what concerns the whole job (a lost
// rank, ranks that disagree) is always said.
#pragma once

#include "collectives/find.h"
#include "steps/find.h"

namespace rankscope::analyzer {

[[nodiscard]] bool is_asked_for(const ReportOptions& options, RankId rank);

/// The rows of Run::collectives() of the ranks asked for that began in the steps asked for.
[[nodiscard]] RowSet rows_asked_for(const Run& run, const CollectivesSection& section,
                                    const Section<StepsSection>& steps, const ReportOptions& options);

/// The operations that began in the steps asked for and in which a rank asked for took part; waits, matched and
/// unmatched members are those of the ranks asked for.
[[nodiscard]] Section<CollectivesSection> collectives_asked_for(const Run& run, const ClockTrust& clocks,
                                                                const Matching& matching,
                                                                const Section<StepsSection>& steps,
                                                                const ReportOptions& options);

/// Leaves out the rows of the other ranks.
void keep_ranks_asked_for(Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
