#include "rankscope/core/numbers.h"

#include <charconv>
#include <concepts>

#include "rankscope/core/format.h"

namespace rankscope {
namespace {

template <class Number>
struct Parsed {
  std::optional<Number> number;
  std::string_view rest;
};

template <class Number>
Parsed<Number> parse(std::string_view text, Bounds<Number> bounds, auto... base) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base...);
  // A comparison with NaN is false, and infinity is above every bound.
  const bool fits = error == std::errc{} && value >= bounds.least && value <= bounds.most;
  return {fits ? std::optional{value} : std::nullopt, {end, static_cast<std::size_t>(last - end)}};
}

}  // namespace

template <class Number>
std::optional<Number> number_from(std::string_view text, Bounds<Number> bounds) {
  const auto [number, rest] = parse(text, bounds);
  return rest.empty() ? number : std::nullopt;
}

std::optional<std::uint64_t> hex_number_from(std::string_view text) {
  const auto [number, rest] = parse<std::uint64_t>(text, {}, 16);
  return rest.empty() ? number : std::nullopt;
}

template <class Number>
std::optional<Number> leading_number(std::string_view text, Bounds<Number> bounds) {
  return parse(text, bounds).number;
}

template <class Number>
std::optional<Number> take_number(std::string_view& text, Bounds<Number> bounds) {
  const auto [number, rest] = parse(text, bounds);
  if (number) text = rest;
  return number;
}

template <class Number>
Result<Number> number_of(std::string_view name, Bounds<Number> bounds, std::string_view text) {
  if (const auto number = number_from(text, bounds)) return *number;
  const std::string is = text.empty() ? "is empty" : format("is \"{}\"", text);
  return fail(ErrorKind::usage, format("{} must be {} ({})", name, number_words(bounds), is));
}

template <class Number>
std::string number_words(Bounds<Number> bounds) {
  const Bounds<Number> all;
  const std::string_view kind = std::integral<Number> ? "a whole number" : "a number";
  const bool has_most = bounds.most != all.most;
  // That a number without a sign is not negative must be said.
  const bool has_least = bounds.least != all.least || (std::unsigned_integral<Number> && !has_most);
  if (has_most && bounds.least == all.least && !std::unsigned_integral<Number>)
    return format("{} of at most {}", kind, bounds.most);
  if (has_most) return format("{} from {} to {}", kind, bounds.least, bounds.most);
  return has_least ? format("{} of at least {}", kind, bounds.least) : std::string{kind};
}

#define RS_NUMBER(type)                                                              \
  template std::optional<type> number_from(std::string_view, Bounds<type>);          \
  template std::optional<type> leading_number(std::string_view, Bounds<type>);       \
  template std::optional<type> take_number(std::string_view&, Bounds<type>);         \
  template Result<type> number_of(std::string_view, Bounds<type>, std::string_view); \
  template std::string number_words(Bounds<type>)
RS_NUMBER(short);
RS_NUMBER(unsigned short);
RS_NUMBER(int);
RS_NUMBER(unsigned);
RS_NUMBER(long);
RS_NUMBER(unsigned long);
RS_NUMBER(long long);
RS_NUMBER(unsigned long long);
RS_NUMBER(double);
#undef RS_NUMBER

}  // namespace rankscope
