// Text that comes from anywhere, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Valid UTF-8: every byte that belongs to no well-formed character becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Valid UTF-8 that cannot steer a terminal: control characters and direction overrides become \xNN or \u{NNNN}.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for a text of several lines: the ends of lines stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace rankscope
