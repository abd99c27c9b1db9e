// Letters of ASCII, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace rankscope::analyzer {

[[nodiscard]] constexpr char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
[[nodiscard]] std::string lower(std::string_view text);

/// Small letters and digits only: "c10::BFloat16" -> "c10bfloat16".
[[nodiscard]] std::string plain_letters(std::string_view name);

}  // namespace rankscope::analyzer
