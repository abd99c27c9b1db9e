// Numbers of the JSON report.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// Cut to so many decimals that the text does not depend on the last bit; null for what is no number.
[[nodiscard]] nlohmann::ordered_json rounded(double value, int decimals);
[[nodiscard]] std::optional<nlohmann::ordered_json> rounded(std::optional<double> value, int decimals);

/// The value, or null with its reason under `why`.
void put(nlohmann::ordered_json& out, const std::string& name, const std::optional<nlohmann::ordered_json>& value,
         std::string_view why);
void put(nlohmann::ordered_json& out, const std::string& name, const std::optional<std::int64_t>& value,
         std::string_view why);
void put(nlohmann::ordered_json& out, const std::string& name, const Ratio& ratio);

}  // namespace rankscope::analyzer
