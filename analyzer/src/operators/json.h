// The section `operators` as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json operators_json(const OperatorsSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
