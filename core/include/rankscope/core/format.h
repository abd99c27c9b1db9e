// The one place that includes fmt.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace rankscope {
using fmt::format;

/// "1 step", "2 steps", "2 processes".
[[nodiscard]] inline std::string counted(std::integral auto count, std::string_view one) {
  const std::string_view ending = count == 1 ? "" : one.ends_with('s') ? "es" : "s";
  return format("{} {}{}", count, one, ending);
}
}  // namespace rankscope
