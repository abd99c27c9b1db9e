// What a value looks like: a number, a word of a program, or something that only its owner knows.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankscope::secrets {

/// Letters, digits, '_' and '-': what names and most tokens are made of.
[[nodiscard]] bool is_name_character(char c);

/// A number of at most this many digits; also with a sign, a point, commas between numbers, or a unit of one letter.
[[nodiscard]] bool is_short_number(std::string_view value, std::size_t most_digits);

/// None, true, str and the like: they stand where a program has no value or names its type.
[[nodiscard]] bool is_placeholder(std::string_view value);

/// Letters and digits in one word, as in "hunter2", but no type of numbers ("bf16"), shape ("4x2"), path, address,
/// range or assignment.
[[nodiscard]] bool mixes_letters_and_digits(std::string_view value);

/// Numbers, lists and marks such as "<eos>": what stands under names like "token" without being secret.
[[nodiscard]] bool is_harmless_under_weak_name(std::string_view value);

/// True if hiding it changes nothing.
[[nodiscard]] bool is_hidden(std::string_view value);

}  // namespace rankscope::secrets
