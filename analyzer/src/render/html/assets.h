// The files of render/page/, embedded when the program is built (cmake/RankscopeEmbed.cmake).
#pragma once

#include <string_view>

namespace rankscope::analyzer::html {

/// A text and its SHA-256 in hexadecimal digits.
struct Asset {
  std::string_view text;
  std::string_view sha256;
};
[[nodiscard]] Asset report_css();
[[nodiscard]] Asset report_js();

}  // namespace rankscope::analyzer::html
