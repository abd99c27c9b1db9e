// Why nothing ran on accelerators, as text.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// Nothing where no rank has an accelerator.
void add_idle_reasons(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
