// Texts in the fields of fixed size of a segment file.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace rankscope::recording {

/// Up to the first NUL.
template <std::size_t n>
[[nodiscard]] std::string_view field_text(const std::array<char, n>& field) {
  return {field.data(), static_cast<std::size_t>(std::ranges::find(field, '\0') - field.begin())};
}

}  // namespace rankscope::recording
