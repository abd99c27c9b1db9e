// Products and sums that say when they do not fit 64 bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace rankscope::analyzer {

/// Nothing above 2^63 - 1. The factors must not be negative.
[[nodiscard]] inline std::optional<std::int64_t> product_of(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors)
    if (factor == 0) return 0;
  for (const std::int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  return product;
}

/// False, and nothing is added, if the sum does not fit.
[[nodiscard]] inline bool add_fits(std::int64_t& sum, std::int64_t more) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(sum, more, &result)) return false;
  sum = result;
  return true;
}

}  // namespace rankscope::analyzer
