#include "words/json_text.h"

#include <cstddef>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

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
