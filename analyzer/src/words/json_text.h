// Text as a JSON string, whatever bytes it holds.
#pragma once

#include <string>
#include <string_view>

#include "rankscope/core/printable.h"

namespace rankscope::analyzer {

/// In quotes, escaped, valid UTF-8.
[[nodiscard]] std::string json_string(std::string_view text);

/// A whole number as it is, all else in quotes.
[[nodiscard]] std::string json_value(std::string_view text);

}  // namespace rankscope::analyzer
