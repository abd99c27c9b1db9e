#include "render/html/shades.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

/// Differences in percent of a step, up to which a colour goes.
struct Shade {
  double below_percent;
  LegendEntry entry;
};
constexpr std::array<Shade, 8> shades{{{-20, {"heat-0", "shorter by more than 20 % of a step"}},
                                       {-5, {"heat-1", "shorter by 5 to 20 %"}},
                                       {-1, {"heat-2", "shorter by 1 to 5 %"}},
                                       {1, {"heat-3", "within 1 %"}},
                                       {5, {"heat-4", "longer by 1 to 5 %"}},
                                       {20, {"heat-5", "longer by 5 to 20 %"}},
                                       {50, {"heat-6", "longer by 20 to 50 %"}},
                                       {1e300, {"heat-7", "longer by more than 50 %"}}}};

}  // namespace

std::string_view shade_of(std::int64_t difference_ns, std::int64_t step_ns) {
  const double percent = 100 * static_cast<double>(difference_ns) / static_cast<double>(step_ns);
  return std::ranges::find_if(shades, [&](const Shade& shade) { return percent < shade.below_percent; })->entry.colour;
}

std::vector<LegendEntry> shade_legend() {
  std::vector<LegendEntry> entries;
  for (const Shade& shade : shades) entries.push_back(shade.entry);
  return entries;
}

std::string signed_ms(std::int64_t ns) {
  const std::int64_t centi = (std::llabs(ns) + 5'000) / 10'000;
  return centi == 0 ? "0" : format("{}{}", ns < 0 ? "−" : "+", decimal(centi, 2));
}

}  // namespace rankscope::analyzer::html
