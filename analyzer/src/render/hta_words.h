// HTA's numbers as text.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// What is said of all of them.
[[nodiscard]] std::string_view hta_note(HtaLastStep last_step);
/// Percent of the kernel time, as HTA rounds.
[[nodiscard]] double hta_share(std::int64_t part_ns, const HtaTimes& times);

/// Nothing if they were not asked for.
void add_hta(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
