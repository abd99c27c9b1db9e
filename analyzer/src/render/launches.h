// The launches of a report, as text.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

void add_launches(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
