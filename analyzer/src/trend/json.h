// The `trend` section of the JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/trend/section.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json trend_json(const TrendSection& section);

}  // namespace rankscope::analyzer
