// The FLOP of a report as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json flops_json(const FlopsSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
