// Operators and annotations as text.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// Nothing where neither was recorded.
void add_operators(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
