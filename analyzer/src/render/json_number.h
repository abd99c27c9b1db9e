// Numbers of the JSON report.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rankscope::analyzer {

/// Cut to so many decimals that the text does not depend on the last bit; null for what is no number.
[[nodiscard]] nlohmann::ordered_json rounded(double value, int decimals);

}  // namespace rankscope::analyzer
