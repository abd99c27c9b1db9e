#include "words/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

struct UnitStep {
  double size;
  std::string_view name;
};

/// Three significant digits in the largest unit that keeps the number at 1 or above.
std::string with_unit(std::int64_t value, std::span<const UnitStep> units) {
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
  constexpr std::array<UnitStep, 4> units{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  return with_unit(ns, units);
}

namespace {

std::vector<RankRange> ranges_of(std::span<const RankId> ranks) {
  std::vector<RankRange> ranges;
  for (const RankId rank : ranks) {
    const auto value = static_cast<std::int64_t>(rank.value);
    if (!ranges.empty() && ranges.back().last + 1 == value)
      ranges.back().last = value;
    else
      ranges.push_back({value, value});
  }
  return ranges;
}

std::string listed(std::span<const RankRange> ranges) {
  constexpr std::size_t most = 16;
  std::string text;
  std::size_t items = 0;
  for (const RankRange& range : ranges) {
    const bool pair = range.last == range.first + 1;  // two are shorter as two
    if (items == most) return text + ", ...";
    text += format("{}{}", items++ == 0 ? "" : ", ", range.first);
    if (range.last == range.first) continue;
    if (pair && items == most) return text + ", ...";
    text += format("{}{}", pair ? ", " : "–", range.last);
    if (pair) ++items;
  }
  return text;
}

}  // namespace

std::string rank_ranges(std::span<const RankId> ranks) { return listed(ranges_of(ranks)); }

std::string ranks_text(std::span<const RankId> ranks) {
  return format("rank{} {}", ranks.size() == 1 ? "" : "s", rank_ranges(ranks));
}

std::string ranks_text(std::span<const RankRange> ranges) {
  const bool one = ranges.size() == 1 && ranges.front().first == ranges.front().last;
  return format("rank{} {}", one ? "" : "s", listed(ranges));
}

std::string only_recorded_text(std::int64_t recorded, std::int64_t of, std::uint64_t unreadable_files) {
  const std::int64_t absent = of - recorded;
  if (unreadable_files > 0 && (of <= 1 || std::cmp_greater_equal(unreadable_files, absent))) {
    const std::string_view why =
        unreadable_files == 1 ? "a segment file is unreadable" : "segment files are unreadable";
    return of <= 1 ? format("only one rank can be read, because {}", why)
                   : format("only {} of {} ranks can be read, because {}", recorded, of, why);
  }
  if (of <= 1) return "only one rank was recorded";
  return format("only {} of {} ranks {} recorded", recorded, of, recorded == 1 ? "was" : "were");
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<UnitStep, 5> units{{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return with_unit(bytes, units);
}

std::string speed_text(double gbps) {
  constexpr double most = 9e18;  // what fits 64 bits
  return format("{}/s", bytes_text(static_cast<std::int64_t>(std::min(gbps * 1e9, most))));
}

}  // namespace rankscope::analyzer
