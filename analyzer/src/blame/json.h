// Who made others wait, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json blame_json(const BlameSection& section);

}  // namespace rankscope::analyzer
