#include "render/json_number.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace rankscope::analyzer {

nlohmann::ordered_json rounded(double value, int decimals) {
  if (!std::isfinite(value)) return nullptr;
  const double unit = std::pow(10.0, decimals);
  return std::round(value * unit) / unit;
}

}  // namespace rankscope::analyzer
