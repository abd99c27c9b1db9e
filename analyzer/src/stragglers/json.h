// The `stragglers` of the JSON report, and what they rest on.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json straggler_json(const Straggler& row);
/// What the list of stragglers rests on; `[]` means more or less depending on it.
[[nodiscard]] nlohmann::ordered_json straggler_basis_json(const StragglersSection& section);

}  // namespace rankscope::analyzer
