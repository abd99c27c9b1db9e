// The ranks that the reader of a report asked for.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] bool is_asked_for(const ReportOptions& options, RankId rank);

}  // namespace rankscope::analyzer
