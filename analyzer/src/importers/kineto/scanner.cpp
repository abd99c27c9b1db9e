#include "importers/kineto/scanner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "rankscope/core/utf8.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::ptrdiff_t longest_key = 256;  // of an event with its blanks: nothing is searched twice over

bool ends_value(char c) { return c == ',' || c == '}' || c == ']' || Scanner::is_blank(c); }

constexpr std::array<std::string_view, 12> event_keys{"ph",  "name", "cat", "pid", "tid", "ts",
                                                      "dur", "args", "id",  "s",   "bp",  "sf"};

void append_utf8(std::uint32_t code, std::string& out) {
  put_utf8(code, [&out](char byte) { out += byte; });
}

/// Four hexadecimal digits at the front, or a value above 16 bits.
std::uint32_t hex4(std::string_view text) {
  constexpr std::uint32_t none = 0x10000;
  if (text.size() < 4) return none;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const std::uint32_t digit = c >= '0' && c <= '9'   ? static_cast<std::uint32_t>(c - '0')
                                : c >= 'a' && c <= 'f' ? static_cast<std::uint32_t>(c - 'a' + 10)
                                : c >= 'A' && c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10)
                                                       : none;
    if (digit == none) return none;
    value = value * 16 + digit;
  }
  return value;
}

/// Takes what follows \u; the number of characters taken.
std::size_t append_code(std::string_view digits, std::string& out) {
  constexpr std::uint32_t replacement = 0xFFFD;
  const std::uint32_t code = hex4(digits);
  if (code > 0xFFFF) {
    out += "\\u";
    return 0;
  }
  const bool high = code >= 0xD800 && code < 0xDC00;
  if (high && digits.size() >= 10 && digits[4] == '\\' && digits[5] == 'u') {
    const std::uint32_t low = hex4(digits.substr(6));
    if (low >= 0xDC00 && low < 0xE000) {
      append_utf8(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), out);
      return 10;
    }
  }
  append_utf8(code >= 0xD800 && code < 0xE000 ? replacement : code, out);
  return 4;
}

}  // namespace

bool Scanner::closes(const char* quote) const {
  const char* next = quote + 1;
  while (next < end_ && is_blank(*next)) ++next;
  return next >= end_ || *next == ',' || *next == ':' || *next == '}' || *next == ']';
}

Scan Scanner::nested(Value& value) {
  const char* const begin = at_;
  int depth = 0;
  while (at_ < end_) {
    switch (*at_) {
      case '"': {
        Value inner;
        if (const Scan scan = text(inner); scan != Scan::ok) return scan;
        continue;
      }
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        --depth;
        break;
      default:
        break;
    }
    ++at_;
    if (depth == 0) {
      value = {.kind = ValueKind::json, .raw = {begin, static_cast<std::size_t>(at_ - begin)}};
      return Scan::ok;
    }
  }
  return Scan::cut;
}

Scan Scanner::bare(Value& value) {
  const char* const begin = at_;
  while (at_ < end_ && !ends_value(*at_)) {
    if (*at_ == '"' || *at_ == ':' || *at_ == '{' || *at_ == '[') return Scan::bad;
    ++at_;
  }
  if (at_ >= end_) return Scan::cut;
  const std::string_view word{begin, static_cast<std::size_t>(at_ - begin)};
  const auto digit = [&word](std::size_t i) { return i < word.size() && word[i] >= '0' && word[i] <= '9'; };
  value = {.kind = ValueKind::absent, .raw = word};
  if (digit(0) || (word.starts_with('-') && digit(1)))
    value.kind = ValueKind::number;
  else if (word == "true" || word == "false")
    value.kind = ValueKind::json;
  return Scan::ok;
}

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out += raw[i];
      continue;
    }
    const char code = raw[++i];
    constexpr std::string_view codes = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (code == 'u') {
      i += append_code(raw.substr(i + 1), out);
    } else if (const std::size_t known = codes.find(code); known != std::string_view::npos) {
      out += meanings[known];
    } else {
      out += '\\';
      out += code;
    }
  }
  return out;
}

void append_compact(std::string_view json, std::string& out) {
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\' && i + 1 < json.size()) {
      out += c;
      out += json[++i];
      continue;
    }
    if (c == '"') in_text = !in_text;
    if (in_text || !Scanner::is_blank(c)) out += c;
  }
}

const char* find_event(const char* from, const char* end) {
  for (const char* at = from; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return end;
    Scanner scanner{at + 1, end - at > longest_key ? at + longest_key : end, Quotes::forgiving};
    Value key;
    if (scanner.peek() != '"' || scanner.text(key) != Scan::ok || scanner.expect(':') != Scan::ok) continue;
    if (std::ranges::find(event_keys, key.raw) == event_keys.end()) continue;
    const char* before = at;
    while (before > from && Scanner::is_blank(before[-1])) --before;
    if (before == from || before[-1] == ',' || before[-1] == '[') return at;
  }
  return end;
}

}  // namespace rankscope::analyzer::kineto
