#include "exports/shared/json_repair.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "importers/kineto/decimal.h"
#include "importers/kineto/scanner.h"
#include "words/json_text.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

enum class Part : std::uint8_t { word, text, separator, blank };

/// What begins with a character, by its code.
constexpr std::array<Part, 256> parts = [] {
  std::array<Part, 256> table{};
  for (const char c : std::string_view{"{}[],:"}) table[static_cast<unsigned char>(c)] = Part::separator;
  for (const char c : std::string_view{" \n\r\t"}) table[static_cast<unsigned char>(c)] = Part::blank;
  table[static_cast<unsigned char>('"')] = Part::text;
  return table;
}();

Part part_at(char c) { return parts[static_cast<unsigned char>(c)]; }

/// Behind the text that opens at `at`, or the end where none closes it.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

/// Behind the word at `at`: all up to a blank, a quote or what separates values.
std::size_t end_of_word(std::string_view json, std::size_t at) {
  while (at < json.size() && part_at(json[at]) == Part::word) ++at;
  return at;
}

bool is_json_word(std::string_view word) {
  return word == "true" || word == "false" || word == "null" || kineto::is_json_number(word);
}

/// The 16 bits of an escape \uXXXX at `at`; nothing for any other.
std::optional<unsigned> code_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned code = 0;
  for (const char c : text.substr(at + 2, 4)) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::size_t digit = digits.find(lower(c));
    if (digit == std::string_view::npos) return std::nullopt;
    code = code * 16 + static_cast<unsigned>(digit);
  }
  return code;
}

/// Characters of the escape at `at`; 0 for one that JSON lacks. Halves of a pair stand for nothing alone.
std::size_t escape_at(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return 0;
  if (text[at + 1] != 'u') return std::string_view{"\"\\/bfnrt"}.find(text[at + 1]) == std::string_view::npos ? 0 : 2;
  const auto code = code_at(text, at);
  if (!code || (*code >= 0xDC00 && *code < 0xE000)) return 0;
  if (*code < 0xD800 || *code > 0xDFFF) return 6;
  const auto low = code_at(text, at + 6);
  return low && *low >= 0xDC00 && *low < 0xE000 ? 12 : 0;
}

/// Of a text with its quotes.
bool is_json_text(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.back() != '"') return false;
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  bool plain = true;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x20) return false;
    plain = plain && static_cast<unsigned char>(text[at]) < 0x80;
    const std::size_t taken = text[at] == '\\' ? escape_at(text, at) : 1;
    if (taken == 0) return false;
    at += taken;
  }
  return plain || valid_utf8(text) == text;
}

/// Walks over the parts of a value. Lists and objects may be as deep as they like: no call nests.
class Checker {
 public:
  explicit Checker(std::string_view json) : json_(json) {}

  bool accepts() {
    for (std::size_t at = 0; at < json_.size();) {
      const Part part = part_at(json_[at]);
      if (part == Part::blank || part == Part::separator) {
        if (part == Part::separator && !separator(json_[at])) return false;
        ++at;
        continue;
      }
      const std::size_t end = part == Part::text ? end_of_text(json_, at) : end_of_word(json_, at);
      if (!value_or_key(json_.substr(at, end - at))) return false;
      at = end;
    }
    return next_ == Next::end;
  }

 private:
  enum class Next { value, value_or_close, key, key_or_close, colon, comma_or_close, end };

  bool separator(char c) {
    switch (c) {
      case '{':
      case '[':
        if (next_ != Next::value && next_ != Next::value_or_close) return false;
        open_ += c;
        next_ = c == '{' ? Next::key_or_close : Next::value_or_close;
        return true;
      case ':':
        if (next_ != Next::colon) return false;
        next_ = Next::value;
        return true;
      case ',':
        if (next_ != Next::comma_or_close) return false;
        next_ = open_.back() == '{' ? Next::key : Next::value;
        return true;
      default:
        return close(c == '}' ? '{' : '[');
    }
  }

  bool close(char opening) {
    const Next empty = opening == '{' ? Next::key_or_close : Next::value_or_close;
    if (open_.empty() || open_.back() != opening || (next_ != Next::comma_or_close && next_ != empty)) return false;
    open_.pop_back();
    ended();
    return true;
  }

  /// A text or word.
  bool value_or_key(std::string_view token) {
    const bool text = token.front() == '"';
    if (text ? !is_json_text(token) : !is_json_word(token)) return false;
    if (next_ == Next::key || next_ == Next::key_or_close) {
      next_ = Next::colon;
      return text;
    }
    if (next_ != Next::value && next_ != Next::value_or_close) return false;
    ended();
    return true;
  }

  void ended() { next_ = open_.empty() ? Next::end : Next::comma_or_close; }

  std::string_view json_;
  std::string open_;  // the brackets around
  Next next_ = Next::value;
};

}  // namespace

bool is_json(std::string_view text) { return Checker{text}.accepts(); }

std::optional<std::string> repaired_json(std::string_view json) {
  if (is_json(json)) return std::nullopt;
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const Part part = part_at(json[at]);
    if (part == Part::blank || part == Part::separator) {
      out += json[at++];
      continue;
    }
    const bool text = part == Part::text;
    const std::size_t end = text ? end_of_text(json, at) : end_of_word(json, at);
    const std::string_view token = json.substr(at, end - at);
    const bool closed = text && token.size() > 1 && token.back() == '"';
    if (text ? is_json_text(token) : is_json_word(token))
      out += token;
    else
      out += json_string(closed ? kineto::unescape(token.substr(1, token.size() - 2)) : std::string{token});
    at = end;
  }
  return is_json(out) ? out : json_string(json);
}

}  // namespace rankscope::analyzer
