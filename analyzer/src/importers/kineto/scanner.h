// JSON as profilers really write it, read once from front to back. Made for traces: no tree is built, texts stay where
// they are, and what is no JSON (inf, nan, N/A, nothing, control characters) is an absent value instead of an error.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#if defined(__SSE2__)
#include <emmintrin.h>

#include <bit>
#endif

namespace rankscope::analyzer::kineto {

enum class Scan : std::uint8_t {
  ok,
  cut,  ///< the text ends before the thing does
  bad,  ///< no JSON
};

enum class ValueKind : std::uint8_t { absent, text, number, json };

struct Value {
  ValueKind kind = ValueKind::absent;
  bool escaped = false;       ///< of a text: holds backslashes
  bool short_number = false;  ///< of a number: it is digits * 10^-decimals
  std::uint8_t decimals = 0;  ///< of a short number
  std::int64_t digits = 0;    ///< of a short number: without their point
  std::string_view raw{};     ///< text: between the quotes; json: list, object, true or false
};

/// How a text ends. Some writers forget to escape quotes inside of texts.
enum class Quotes : std::uint8_t {
  strict,
  forgiving,  ///< only a quote before , : } or ] ends a text
};

class Scanner {
 public:
  Scanner(const char* begin, const char* end, Quotes quotes = Quotes::strict)
      : at_(begin), end_(end), quotes_(quotes) {}

  [[nodiscard]] const char* at() const { return at_; }
  void move_to(const char* at) { at_ = at; }
  [[nodiscard]] bool at_end() const { return at_ >= end_; }

  /// The next character that is no blank, not taken; 0 at the end.
  char peek() {
    while (at_ < end_ && is_blank(*at_)) ++at_;
    return at_ < end_ ? *at_ : '\0';
  }
  /// Takes the next character behind blanks if it is this one.
  Scan expect(char wanted) {
    if (peek() == wanted && at_ < end_) {
      ++at_;
      return Scan::ok;
    }
    return at_ >= end_ ? Scan::cut : Scan::bad;
  }
  /// A quoted text; the scanner stands at the opening quote.
  Scan text(Value& value);
  /// Any value.
  Scan value(Value& value);

  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

 private:
  const char* find_quote_or_backslash(const char* from) const;
  [[nodiscard]] bool closes(const char* quote) const;
  Scan nested(Value& value);
  bool short_number(Value& value);
  Scan bare(Value& value);

  const char* at_;
  const char* end_;
  Quotes quotes_;
};

inline const char* Scanner::find_quote_or_backslash(const char* from) const {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  while (end_ - from >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const int hits = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
    if (hits != 0) return from + std::countr_zero(static_cast<unsigned>(hits));
    from += 16;
  }
#endif
  while (from < end_ && *from != '"' && *from != '\\') ++from;
  return from;
}

inline Scan Scanner::text(Value& value) {
  const char* const begin = at_ + 1;
  value.kind = ValueKind::text;
  value.escaped = false;
  value.short_number = false;
  const char* at = begin;
  while (true) {
    at = find_quote_or_backslash(at);
    if (at >= end_) break;
    if (*at == '\\') {
      value.escaped = true;
      at += 2;
      if (at >= end_) break;
      continue;
    }
    if (quotes_ == Quotes::strict || closes(at)) {
      value.raw = {begin, static_cast<std::size_t>(at - begin)};
      at_ = at + 1;
      return Scan::ok;
    }
    ++at;
  }
  at_ = end_;
  return Scan::cut;
}

inline Scan Scanner::value(Value& value) {
  const char first = peek();
  if (first == '"') return text(value);
  if (first == '{' || first == '[') return nested(value);
  return short_number(value) ? Scan::ok : bare(value);
}

/// What nearly all numbers are: some digits, perhaps with a sign and decimals, and then the end of the value. Nothing
/// is taken if it is anything else.
inline bool Scanner::short_number(Value& value) {
  constexpr int most_digits = 19;  // fit in 64 bits
  const char* at = at_;
  const bool negative = at < end_ && *at == '-';
  if (negative) ++at;
  int count = 0;
  std::uint64_t digits = 0;
  const auto take_digits = [&] {
    const int before = count;
    for (; at < end_ && *at >= '0' && *at <= '9' && count < most_digits; ++at, ++count)
      digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    return count - before;
  };
  if (take_digits() == 0) return false;
  int decimals = 0;
  if (at < end_ && *at == '.') {
    ++at;
    decimals = take_digits();
    if (decimals == 0) return false;
  }
  const bool ends = at < end_ && (*at == ',' || *at == '}' || *at == ']' || is_blank(*at));
  if (!ends || digits > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return false;
  value.kind = ValueKind::number;
  value.short_number = true;
  value.decimals = static_cast<std::uint8_t>(decimals);
  value.digits = negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
  value.raw = {at_, static_cast<std::size_t>(at - at_)};
  at_ = at;
  return true;
}

/// The text of a JSON string with its escapes resolved; wrong escapes stay as they are. Invalid UTF-8 is kept.
[[nodiscard]] std::string unescape(std::string_view raw);

/// A list or object without the blanks between its parts.
void append_compact(std::string_view json, std::string& out);

/// Where the next event object of a list begins at or behind `from`; `end` if nowhere. An event is a { that follows a
/// comma or the opening of a list and whose first key is one that events have.
[[nodiscard]] const char* find_event(const char* from, const char* end);

}  // namespace rankscope::analyzer::kineto
