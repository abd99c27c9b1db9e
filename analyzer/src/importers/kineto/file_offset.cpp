#include "importers/kineto/input.h"

#include "importers/kineto/decimal.h"

namespace rankscope::analyzer::kineto {
namespace {

bool is_near(std::int64_t offset_ns) {
  constexpr std::int64_t furthest = std::int64_t{1} << 61U;  // as of times themselves (decimal.h)
  return -furthest < offset_ns && offset_ns < furthest;
}

}  // namespace

std::optional<std::string> moved_offset(std::string_view fact, std::int64_t by_ns) {
  const auto known = integer_of(fact);
  if (!known || !is_near(*known) || !is_near(*known + by_ns)) return std::nullopt;
  return std::to_string(*known + by_ns);
}

}  // namespace rankscope::analyzer::kineto
