#include "render/means.h"

#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {

std::string Means::words() const {
  if (ranks > 1) return format("mean per {} of {}", rank_steps > 0 ? "step and rank" : "rank", counted(ranks, "rank"));
  return rank_steps > 0 ? "mean per step" : "whole recording";
}

std::string Means::count(std::int64_t sum) const {
  const double mean = static_cast<double>(sum) / static_cast<double>(parts());
  if (sum % parts() == 0 || mean >= 100) return format("{:.0f}", mean);
  return mean < 1 ? format("{:.2g}", mean) : format("{:.1f}", mean);
}

std::string Means::ms(std::int64_t sum_ns) const { return decimal((sum_ns + parts() * 500) / (parts() * 1'000), 3); }

std::string share_text(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole)) : "–";
}

}  // namespace rankscope::analyzer
