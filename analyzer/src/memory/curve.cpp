#include "memory/curve.h"

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
    growth.why_no_limit = "any growth may be due to chance";
  else if (!left_bytes)
    growth.why_no_limit = why_none_left;
  else
    growth.steps_to_limit =
        std::llround(std::min(std::max(0.0, static_cast<double>(*left_bytes)) / *growth.bytes_per_step, 1e15));
}

using Value = MemoryCurve::Value;

/// Every change of the value, and the last time it was seen.
std::vector<Value> changes_of(std::span<const Value> values) {
  std::vector<Value> changes;
  for (const Value& value : values)
    if (changes.empty() || changes.back().bytes != value.bytes || &value == &values.back()) changes.push_back(value);
  return changes;
}

}  // namespace

MemoryGrowth growth_of(std::span<const StepPeak> peaks, std::optional<std::int64_t> left_bytes,
                       std::string_view why_none_left) {
  MemoryGrowth growth;
  growth.steps = static_cast<std::int64_t>(peaks.size());
  if (peaks.size() < fewest_steps) {
    growth.why = growth.why_no_limit =
        format("a trend needs at least {} steps after the warm-up (found: {})", fewest_steps, peaks.size());
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

MemoryCurve::MemoryCurve(std::vector<Value> values, Between between, std::optional<TimeRange> part)
    : values_(std::move(values)), between_(between) {
  if (!part) return;
  const auto end = std::ranges::upper_bound(values_, part->end, {}, &Value::time);
  values_.erase(end, values_.end());
  auto begin = std::ranges::lower_bound(values_, part->begin, {}, &Value::time);
  if (between_ == Between::held && begin != values_.begin()) {
    --begin;
    begin->time = part->begin;
  }
  values_.erase(values_.begin(), begin);
}

const Value& MemoryCurve::highest() const { return *std::ranges::max_element(values_, {}, &Value::bytes); }

std::vector<StepPeak> MemoryCurve::by_step(const StepsSection& steps, RankId rank) const {
  std::vector<StepPeak> peaks;
  for (const StepWindow& window : windows_of(steps, rank)) {
    if (!steps.counted(window.index)) continue;
    auto first = std::ranges::lower_bound(values_, window.window.begin, {}, &Value::time);
    const auto end = std::ranges::lower_bound(values_, window.window.end, {}, &Value::time);
    if (between_ == Between::held && first != values_.begin()) --first;
    if (first >= end) continue;
    peaks.push_back({window.index, std::max_element(first, end, [](const Value& a, const Value& b) {
                                     return a.bytes < b.bytes;
                                   })->bytes});
  }
  return peaks;
}

std::vector<MemoryPoint> MemoryCurve::points(std::size_t buckets) const {
  std::vector<Value> changes = changes_of(values_);
  std::vector<MemoryPoint> points;
  const auto keep = [&](const Value& value) {
    if (points.empty() || points.back() != MemoryPoint{ns_of(value.time), value.bytes})
      points.push_back({ns_of(value.time), value.bytes});
  };
  if (changes.size() <= 3 * buckets) {
    for (const Value& value : changes) keep(value);
    return points;
  }
  const std::int64_t begin = ns_of(changes.front().time);
  const std::int64_t width = (ns_of(changes.back().time) - begin) / static_cast<std::int64_t>(buckets) + 1;
  const auto bucket_of = [&](const Value& value) { return (ns_of(value.time) - begin) / width; };
  for (auto first = changes.begin(); first != changes.end();) {
    const auto end = std::find_if(first, changes.end(), [&, bucket = bucket_of(*first)](const Value& value) {
      return bucket_of(value) != bucket;
    });
    const auto less = [](const Value& a, const Value& b) { return a.bytes < b.bytes; };
    const auto lowest = std::min_element(first, end, less);
    const auto highest = std::max_element(first, end, less);
    keep(*std::min(lowest, highest));
    keep(*std::max(lowest, highest));
    keep(*(end - 1));
    first = end;
  }
  return points;
}

MemoryCurve curve_of(const MemorySeries& series, std::int64_t MemoryEvent::*total, std::optional<TimeRange> part) {
  std::vector<Value> values;
  const bool known = total == &MemoryEvent::allocated ? series.has_allocated : series.has_reserved;
  for (std::size_t i = 0; known && i < series.events.size(); ++i) {
    const MemoryEvent& event = series.events[i];
    if (series.changes_only || event.*total != MemoryEvent::unknown) values.push_back({event.time, event.*total, i});
  }
  return {std::move(values), series.blocks ? Between::held : Between::unknown, part};
}

}  // namespace rankscope::analyzer
