#include "memory/growth.h"

#include <algorithm>
#include <cmath>

#include "math/statistics.h"
#include "math/theil_sen.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t fewest_steps = 20;  // metrics.md 14.5
constexpr double chance = 0.01;
constexpr std::size_t most_samples = 1000;  // every pair of them is looked at

/// Of very many steps the highest of equally many in a row.
std::vector<TrendPoint> points_of(std::span<const StepPeak> peaks) {
  const std::size_t stride = (peaks.size() + most_samples - 1) / most_samples;
  std::vector<TrendPoint> points;
  for (std::size_t first = 0; first < peaks.size(); first += stride) {
    const auto part = peaks.subspan(first, std::min(stride, peaks.size() - first));
    const double middle = (static_cast<double>(part.front().step) + static_cast<double>(part.back().step)) / 2;
    points.push_back({middle, std::ranges::max(part, {}, &StepPeak::bytes).bytes});
  }
  return points;
}

std::int64_t median_of(std::span<const StepPeak> peaks) {
  std::vector<std::int64_t> values;
  for (const StepPeak& peak : peaks) values.push_back(peak.bytes);
  return median(values);
}

void tell_limit(MemoryGrowth& growth, std::optional<std::int64_t> left_bytes, std::string_view why_none_left) {
  if (!growth.proven)
    growth.why_no_limit = "no growth that chance cannot explain";
  else if (!left_bytes)
    growth.why_no_limit = why_none_left;
  else
    growth.steps_to_limit =
        std::llround(std::min(std::max(0.0, static_cast<double>(*left_bytes)) / *growth.bytes_per_step, 1e15));
}

}  // namespace

MemoryGrowth growth_of(std::span<const StepPeak> peaks, std::optional<std::int64_t> left_bytes,
                       std::string_view why_none_left) {
  MemoryGrowth growth;
  growth.steps = static_cast<std::int64_t>(peaks.size());
  if (peaks.size() < fewest_steps) {
    growth.why = growth.why_no_limit =
        format("it needs {} steps after the warm-up, there are {}", fewest_steps, peaks.size());
    return growth;
  }
  const std::vector<TrendPoint> points = points_of(peaks);
  const double slope = theil_sen_slope(points);
  growth.bytes_per_step = slope;
  growth.p = mann_kendall_p(points);
  growth.proven = slope > 0 && growth.p < chance;
  const double later = theil_sen_slope(std::span{points}.subspan(points.size() / 2));
  growth.lasts = growth.proven && later >= slope / 2;
  growth.median_bytes = median_of(peaks);
  growth.grown_bytes = std::llround(slope * static_cast<double>(peaks.back().step - peaks.front().step));
  tell_limit(growth, left_bytes, why_none_left);
  return growth;
}

}  // namespace rankscope::analyzer
