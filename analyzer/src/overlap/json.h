// The section `overlap` as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json overlap_json(const OverlapSection& section);

}  // namespace rankscope::analyzer
