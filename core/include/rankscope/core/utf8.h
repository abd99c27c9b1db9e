// Characters as UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rankscope {

/// A character and the bytes it takes.
struct Utf8Character {
  char32_t code;
  std::size_t bytes;
};

/// The first one of valid UTF-8 that is not empty.
constexpr Utf8Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  char32_t code = byte(0) & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) code = (code << 6) | (byte(i) & 0x3F);
  return {code, bytes};
}

/// The start of a text, at most so many bytes of it, without a part of a character at its end.
constexpr std::string_view cut_utf8(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  while (most_bytes > 0 && (static_cast<unsigned char>(text[most_bytes]) & 0xC0U) == 0x80U) --most_bytes;
  return text.substr(0, most_bytes);
}

/// Gives the bytes of a character, one to four, to `put`. Allocates no memory, so that it may run anywhere in a
/// recorded program; what is no character becomes bytes that are no UTF-8.
template <class Put>
constexpr void put_utf8(std::uint32_t code, Put put) {
  if (code < 0x80) {
    put(static_cast<char>(code));
  } else if (code < 0x800) {
    put(static_cast<char>(0xC0 | code >> 6));
    put(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    put(static_cast<char>(0xE0 | code >> 12));
    put(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    put(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    put(static_cast<char>(0xF0 | (code >> 18 & 0x07)));
    put(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    put(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    put(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

}  // namespace rankscope
