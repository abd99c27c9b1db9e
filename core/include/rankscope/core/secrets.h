// Credentials in strings: found by the names under which they stand or by their own form, and hidden before a string is
// shown, exported or passed on. docs/secrets.md lists what is found and what is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Whether the strings of an input are shown as they are, or without their secrets.
enum class Texts : std::uint8_t { without_secrets, as_recorded };

/// True for names of options, variables and keys under which secrets stand: "HF_TOKEN", "--password", "api_key", ...
[[nodiscard]] bool names_secret(std::string_view name);

/// True if a value is secret because of the name of its field; false for "None", "str" and, under names such as
/// "token", for numbers.
[[nodiscard]] bool is_secret_value(std::string_view name, std::string_view value);

/// Overwrites secrets inside a string with '*', without changing its length, and returns how many it found. What is
/// hidden once is not found again.
std::size_t hide_secrets(std::span<char> text);

/// The string after hide_secrets(), or nothing if it has no secrets, which costs no allocation.
[[nodiscard]] std::optional<std::string> without_secrets(std::string_view text);

/// Replaces secrets of a command by "***", also those that only a command shows: --key X, mysql -pX, curl -u me:X.
[[nodiscard]] std::vector<std::string> scrub(const std::vector<std::string>& command);

}  // namespace rankscope
