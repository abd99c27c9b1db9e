// What the rows of sections.cpp leave out of a report that shows some of the ranks only.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

void keep_rank_facts(Report& report, const ReportOptions& options);
/// The others are kept apart, for what compares with all ranks.
void keep_rank_rows(Report& report, const ReportOptions& options);
void keep_memory(Report& report, const ReportOptions& options);
void keep_pipeline_ranks(Report& report, const ReportOptions& options);
void keep_hta_ranks(Report& report, const ReportOptions& options);
/// The others are kept apart: a slow rank that is not shown is still mentioned.
void keep_slow_ranks(Report& report, const ReportOptions& options);
/// Leaves out only what is about one rank.
void keep_findings(Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
