// Numbers that come from users or stand in text: one parser, its bounds, and the words of its errors.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope {

/// What a number may be, both ends included; an end that is not given does not bound it.
template <class Number>
struct Bounds {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

// All of them: no blanks, no leading "+"; a real number is finite. For the built-in integers of 16 bits or more, and
// double.

/// The number that the whole text is; nothing if it is something else or out of bounds.
template <class Number>
[[nodiscard]] std::optional<Number> number_from(std::string_view text, Bounds<Number> bounds = {});

/// The same in hexadecimal digits, without "0x".
[[nodiscard]] std::optional<std::uint64_t> hex_number_from(std::string_view text);

/// The number at the start of the text, whatever follows it.
template <class Number>
[[nodiscard]] std::optional<Number> leading_number(std::string_view text, Bounds<Number> bounds = {});

/// The same, and removes it from the text; where there is none, the text stays as it is.
template <class Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& text, Bounds<Number> bounds = {});

/// The number of an option, a variable or a field; the error (of kind usage) is
/// `--ranks must be a whole number from 1 to 4096 (is "x")`.
template <class Number>
[[nodiscard]] Result<Number> number_of(std::string_view name, Bounds<Number> bounds, std::string_view text);

/// "a whole number from 1 to 4096", "a number of at least 0.5", for errors that say more than number_of does.
template <class Number>
[[nodiscard]] std::string number_words(Bounds<Number> bounds);

}  // namespace rankscope
