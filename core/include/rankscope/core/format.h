// The one place that includes fmt.
#pragma once

// libtorch brings headers of another release, which can only be used header-only.
#ifdef FMT_HEADER_ONLY
#include <fmt/format.h>
#else
#include <fmt/core.h>
#endif

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace rankscope {

#ifdef FMT_HEADER_ONLY
using fmt::format;
#else
namespace detail {
/// Formatting itself is compiled once (format.cpp): it costs seconds in each file.
[[nodiscard]] std::string format_all(fmt::string_view text, fmt::format_args arguments);
}  // namespace detail

/// As fmt::format: the text is checked against its arguments by the compiler.
template <class... Arguments>
[[nodiscard]] std::string format(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return detail::format_all(text, fmt::make_format_args(arguments...));
}
#endif

/// "1 step", "2 steps", "2 processes".
[[nodiscard]] inline std::string counted(std::integral auto count, std::string_view one) {
  const std::string_view ending = count == 1 ? "" : one.ends_with('s') ? "es" : "s";
  return format("{} {}{}", count, one, ending);
}
}  // namespace rankscope
