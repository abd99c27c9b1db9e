// Numbers of a trace from their decimal text, without a double in between.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "importers/kineto/scanner.h"

namespace rankscope::analyzer::kineto {

/// Microseconds to nanoseconds, exact to the third decimal and rounded half up beyond: "1.2345" is 1235. Takes
/// exponents. Nothing for what is no number, or too large (73 years).
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of(std::string_view micros);

[[nodiscard]] std::optional<std::int64_t> nanoseconds_of(const Value& micros);

/// An integer, or nothing (fractions, exponents, above 2^63).
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view text);
[[nodiscard]] inline std::optional<std::int64_t> integer_of(const Value& value) {
  if (!value.short_number) return integer_of(value.raw);
  return value.decimals == 0 ? std::optional{value.digits} : std::nullopt;
}

/// True for a number as JSON writes one (RFC 8259, 6) that a double holds: many readers refuse a larger one.
[[nodiscard]] bool is_json_number(std::string_view text);

/// Any finite number, or nothing.
[[nodiscard]] std::optional<double> real_of(std::string_view text);

}  // namespace rankscope::analyzer::kineto
