#include "render/html/writer.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Elements before which a new line would be a space that is seen.
bool is_inline(std::string_view tag) {
  constexpr std::array<std::string_view, 6> all{"a", "b", "code", "small", "span", "title"};
  return std::ranges::find(all, tag) != all.end();
}

}  // namespace

void Writer::start(std::string_view tag, Attributes attributes) {
  if (!is_inline(tag)) text_ += '\n';
  text_.append("<").append(tag);
  for (const auto& [name, value] : attributes) text_ += format(" {}=\"{}\"", name, escaped(value));
}

Writer::Scope Writer::scope(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  text_ += '>';
  open_.emplace_back(tag);
  return Scope{*this};
}

void Writer::close() {
  text_ += format("</{}>", open_.back());
  open_.pop_back();
}

void Writer::element(std::string_view tag, std::string_view content, Attributes attributes) {
  const auto whole = scope(tag, attributes);
  text(content);
}

void Writer::empty(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  text_ += "/>";
}

void Writer::text(std::string_view text) { text_ += escaped(text); }

std::string number(double value) {
  auto text = format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace rankscope::analyzer::html
