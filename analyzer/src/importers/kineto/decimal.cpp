#include "importers/kineto/decimal.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 61;  // the year 2043; sums of three stay below 2^63

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits without their point: 12.345e2 is {12345, -1}. Digits beyond 18 only move the exponent.
struct Digits {
  std::uint64_t value = 0;
  int exponent = 0;
  bool negative = false;
};

std::optional<Digits> digits_of(std::string_view text) {
  Digits digits;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) digits.negative = text[at++] == '-';
  bool any = false;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    any = true;
    if (digits.value < largest / 10) {
      digits.value = digits.value * 10 + static_cast<std::uint64_t>(text[at] - '0');
      digits.exponent -= fraction ? 1 : 0;
    } else {
      digits.exponent += fraction ? 0 : 1;
    }
  }
  if (!any) return std::nullopt;
  if (at == text.size()) return digits;
  if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
  ++at;
  if (at < text.size() && text[at] == '+') ++at;
  const auto exponent = number_from<int>(text.substr(at), {-1000, 1000});
  if (!exponent) return std::nullopt;
  digits.exponent += *exponent;
  return digits;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view micros) {
  const auto digits = digits_of(micros);
  if (!digits) return std::nullopt;
  std::uint64_t value = digits->value;
  int exponent = digits->exponent + 3;
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > largest / 10) return std::nullopt;
    value *= 10;
  }
  for (; exponent < -1 && value != 0; ++exponent) value /= 10;
  if (exponent == -1) value = (value + 5) / 10;
  if (value > largest) return std::nullopt;
  const auto ns = static_cast<std::int64_t>(value);
  return digits->negative ? -ns : ns;
}

std::optional<std::int64_t> nanoseconds_of(const Value& micros) {
  constexpr std::array<std::int64_t, 4> factors{1000, 100, 10, 1};  // by decimals
  if (!micros.short_number || micros.decimals >= factors.size()) return nanoseconds_of(micros.raw);
  const std::int64_t factor = factors[micros.decimals];
  if (std::abs(micros.digits) > static_cast<std::int64_t>(largest) / factor) return std::nullopt;
  return micros.digits * factor;
}

std::optional<std::int64_t> integer_of(std::string_view text) { return number_from<std::int64_t>(text); }

bool is_json_number(std::string_view text) {
  std::string_view rest = text;
  const auto take_digits = [&rest] {
    const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(digits);
    return digits;
  };
  if (rest.starts_with('-')) rest.remove_prefix(1);
  const bool leading_zero = rest.starts_with('0');
  const auto whole = take_digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (take_digits() == 0) return false;
  }
  const bool may_be_large = !rest.empty() || whole > 300;
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
    if (take_digits() == 0) return false;
  }
  return rest.empty() && (!may_be_large || real_of(text));
}

std::optional<double> real_of(std::string_view text) { return number_from<double>(text); }

}  // namespace rankscope::analyzer::kineto
