// Copies and waits for the device as text.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// Nothing where no rank has an accelerator, or nothing of the kind was recorded.
void add_copies(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
