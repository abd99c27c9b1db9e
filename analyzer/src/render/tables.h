// The tables of a report.
#pragma once

#include <string>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// "Steps from step spans; 20 complete, 0 partial, 1 warm-up left out." (metrics.md 1)
[[nodiscard]] std::string steps_source(const StepsSection& steps);

void add_rank_facts(Page& page, const Report& report, const ReportOptions& options);
void add_rank_tables(Page& page, const Report& report, const ReportOptions& options);
void add_collectives(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] Table straggler_table(const StragglersSection& section);

}  // namespace rankscope::analyzer
