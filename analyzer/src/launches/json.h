// The `launches` of the JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json launch_json(const LaunchRow& row);

}  // namespace rankscope::analyzer
