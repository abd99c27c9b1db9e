// `run.clock` of the JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/clocks/section.h"

namespace rankscope::analyzer {

/// Adds to the method and the error what is known of each clock, where there are several.
void add_clocks(nlohmann::ordered_json& clock, const ClocksSection& section);

}  // namespace rankscope::analyzer
