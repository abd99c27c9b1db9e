// How fast data moved, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json bandwidth_json(const BandwidthSection& section);

}  // namespace rankscope::analyzer
