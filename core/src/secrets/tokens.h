// Tokens that show by their own form what they are.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankscope::secrets {

/// The length of the token that begins at the start of a text, or 0.
[[nodiscard]] std::size_t token_length(std::string_view text);

/// True for letters with which no token begins, so that token_length() need not be asked.
[[nodiscard]] bool begins_token(char c);

}  // namespace rankscope::secrets
