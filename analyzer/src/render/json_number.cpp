#include "render/json_number.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace rankscope::analyzer {

nlohmann::ordered_json rounded(double value, int decimals) {
  if (!std::isfinite(value)) return nullptr;
  const double unit = std::pow(10.0, decimals);
  return std::round(value * unit) / unit;
}

std::optional<nlohmann::ordered_json> rounded(std::optional<double> value, int decimals) {
  return value ? std::optional{rounded(*value, decimals)} : std::nullopt;
}

void put(nlohmann::ordered_json& out, const std::string& name, const std::optional<nlohmann::ordered_json>& value,
         std::string_view why) {
  out[name] = value ? *value : nlohmann::ordered_json(nullptr);
  if (!value) out["why"][name] = why;
}

void put(nlohmann::ordered_json& out, const std::string& name, const std::optional<std::int64_t>& value,
         std::string_view why) {
  put(out, name, value ? std::optional<nlohmann::ordered_json>{*value} : std::nullopt, why);
}

void put(nlohmann::ordered_json& out, const std::string& name, const Ratio& ratio) {
  constexpr int digits = 6;
  put(out, name, rounded(ratio.value, digits), ratio.why);
}

}  // namespace rankscope::analyzer
