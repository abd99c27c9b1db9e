// The efficiency tree as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json efficiency_json(const EfficiencySection& section);

}  // namespace rankscope::analyzer
