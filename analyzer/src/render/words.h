// Numbers and names as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "math/apportion.h"
#include "rankscope/core/printable.h"
#include "words/units.h"

namespace rankscope::analyzer {

/// Printable, with a capital letter in front and a full stop at the end.
[[nodiscard]] std::string sentence(std::string_view text);

/// Columns that a printable text takes on a terminal.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// At most `width` columns; what is cut off shows as "…".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// The same, but what is cut off is in the middle: names that begin alike often differ at their ends.
[[nodiscard]] std::string shortened_inside(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at spaces, but not between a number and its
/// unit if that can be avoided; a longer word is broken where it must.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Lines that a part may have where others take `taken` of `all`: at least one, in which it says that it is cut.
[[nodiscard]] std::size_t lines_left(std::size_t all, std::size_t taken);

/// As many of the texts as fit into `width` columns, "a, b and 3 more"; at least the front of the first.
[[nodiscard]] std::string listed(std::span<const std::string> texts, std::string_view between, std::size_t width);

/// A share of one: "27 %", "3.4 %", "< 0.1 %".
[[nodiscard]] std::string percent_text(double share);

/// A fixed number of decimals from an integer: 1234 with 2 is "12.34".
[[nodiscard]] std::string decimal(std::int64_t value, int decimals);

}  // namespace rankscope::analyzer
