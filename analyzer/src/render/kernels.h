// Kernels and what ran together, as text.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// Nothing where no kernel was recorded.
void add_kernels(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
