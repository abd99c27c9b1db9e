// Credentials in text: found by the name they stand under or by their own form, and hidden before text is passed on.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// True for names of options, variables and keys under which secrets stand: "HF_TOKEN", "--password", "api_key", ...
[[nodiscard]] bool names_secret(std::string_view name);

/// Overwrites secrets inside a text with '*', without changing its length, and returns how many it found: tokens of
/// known services, JSON web tokens, private keys, passwords in URLs, and values of NAME=VALUE words with a name as
/// above.
std::size_t hide_secrets(std::span<char> text);

/// Replaces values that look like secrets (--token X, KEY=..., passwords in URLs, tokens) by "***".
[[nodiscard]] std::vector<std::string> scrub(const std::vector<std::string>& command);

}  // namespace rankscope
