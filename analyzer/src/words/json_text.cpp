#include "words/json_text.h"

#include <cstddef>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
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

void append_escaped(std::string& out, char character) {
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(character);
  if (code < 0x20 || code == 0x7F) {
    out += format("\\u{:04x}", code);
  } else {
    out += character;
  }
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

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  for (const char character : valid_utf8(text)) append_escaped(out, character);
  out += '"';
  return out;
}

std::string json_value(std::string_view text) {
  const bool number = !text.empty() && text.size() < 19 && (text.size() == 1 || text.front() != '0') &&
                      text.find_first_not_of("0123456789") == std::string_view::npos;
  return number ? std::string{text} : json_string(text);
}

}  // namespace rankscope::analyzer
