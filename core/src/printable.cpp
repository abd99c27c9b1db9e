#include "rankscope/core/printable.h"

#include <algorithm>
#include <cstddef>

#include "rankscope/core/format.h"
#include "rankscope/core/utf8.h"

namespace rankscope {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct Sequence {
  std::size_t length;        ///< 0: no character starts with this byte
  unsigned char second_min;  ///< the second byte is what keeps overlong forms and surrogates out
  unsigned char second_max;
};

/// Unicode 15, table 3-7.
Sequence sequence_of(unsigned char first) {
  if (first < 0x80) return {1, 0, 0};
  if (first >= 0xC2 && first <= 0xDF) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

/// Bytes of the well-formed character at the front, 0 if there is none.
std::size_t character_at_front(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto sequence = sequence_of(byte(0));
  if (sequence.length == 0 || sequence.length > text.size()) return 0;
  for (std::size_t i = 1; i < sequence.length; ++i) {
    const auto low = i == 1 ? sequence.second_min : 0x80;
    const auto high = i == 1 ? sequence.second_max : 0xBF;
    if (byte(i) < low || byte(i) > high) return 0;
  }
  return sequence.length;
}

bool steers_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = character_at_front(text);
    out += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string printable(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string out;
  for (std::string_view rest = valid; !rest.empty();) {
    const auto character = first_character(rest);
    if (!steers_terminal(character.code)) {
      out += rest.substr(0, character.bytes);
    } else if (character.code < 0x100) {
      out += format("\\x{:02x}", static_cast<unsigned>(character.code));
    } else {
      out += format("\\u{{{:x}}}", static_cast<unsigned>(character.code));
    }
    rest.remove_prefix(character.bytes);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, length));
    if (length < text.size()) out += '\n';
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out;
}

}  // namespace rankscope
