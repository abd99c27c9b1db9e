// Why nothing ran on accelerators, as text.
#pragma once

#include <string_view>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// "host was late", "gap between kernels", ...
[[nodiscard]] std::string_view words_of(const IdleShare& share);

/// Nothing where no rank has an accelerator.
void add_idle_reasons(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
