#include "units.h"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

/// Three significant digits in the largest unit that keeps the number at 1 or above.
std::string with_unit(std::int64_t value, std::span<const Unit> units) {
  const double magnitude = std::abs(static_cast<double>(value));
  auto unit = units.begin();
  while (unit + 1 != units.end() && magnitude >= (unit + 1)->size * 0.9995) ++unit;
  const double scaled = static_cast<double>(value) / unit->size;
  const double size = std::abs(scaled);
  const int decimals = unit == units.begin() || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return format("{:.{}f} {}", scaled, decimals, unit->name);
}

}  // namespace

std::string duration_text(std::int64_t ns) {
  constexpr std::array<Unit, 4> units{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  return with_unit(ns, units);
}

std::string rank_ranges(std::span<const RankId> ranks) {
  constexpr std::size_t most = 16;
  std::string text;
  std::size_t listed = 0;
  for (std::size_t first = 0; first < ranks.size(); ++listed) {
    if (listed == most) return text + ", ...";
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1].value == ranks[last].value + 1) ++last;
    if (last - first == 1) last = first;  // two are shorter as two
    text += format("{}{}", first == 0 ? "" : ", ", ranks[first].value);
    if (last > first) text += format("–{}", ranks[last].value);
    first = last + 1;
  }
  return text;
}

std::string ranks_text(std::span<const RankId> ranks) {
  return format("rank{} {}", ranks.size() == 1 ? "" : "s", rank_ranges(ranks));
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<Unit, 5> units{{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return with_unit(bytes, units);
}

}  // namespace rankscope::analyzer
