#include "rankscope/core/time_text.h"

#include <array>
#include <cmath>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array units{Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}, Unit{"µs", 1'000}, Unit{"us", 1'000},
                           Unit{"ns", 1}};

/// The largest one that is not longer, "ns" for all that is shorter.
const Unit& unit_for(nanoseconds duration) {
  const std::int64_t ns = std::abs(duration.count());
  for (const Unit& unit : units)
    if (ns >= unit.ns) return unit;
  return units.back();
}

}  // namespace

Result<nanoseconds> duration_from(std::string_view text) {
  std::string_view suffix = text;
  const auto value = take_number<double>(suffix, {.least = 0});
  for (const Unit& unit : units) {
    if (!value || !(suffix == unit.name || (suffix.empty() && unit.name == "s"))) continue;
    const double ns = std::round(*value * static_cast<double>(unit.ns));
    if (ns < 9e18) return nanoseconds{static_cast<std::int64_t>(ns)};
  }
  return fail(ErrorKind::usage, format("'{}' must be a time such as 1.5s, 200ms, 40us or 17ns", text));
}

std::string duration_text(nanoseconds duration) {
  const Unit& unit = unit_for(duration);
  if (unit.ns == 1) return format("{} ns", duration.count());
  return format("{:.3f} {}", static_cast<double>(duration.count()) / static_cast<double>(unit.ns), unit.name);
}

std::string axis_text(nanoseconds time, nanoseconds resolution, nanoseconds largest) {
  const Unit& unit = unit_for(largest);
  int digits = 0;
  for (std::int64_t step = unit.ns; step > std::max<std::int64_t>(1, resolution.count()); step /= 10) ++digits;
  return format("{:.{}f} {}", static_cast<double>(time.count()) / static_cast<double>(unit.ns), digits, unit.name);
}

}  // namespace rankscope
