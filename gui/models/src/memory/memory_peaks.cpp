#include "rankscope/gui/models/memory/memory_peaks.h"

#include <algorithm>

namespace rankscope::gui {
namespace {

constexpr std::size_t fan_out = 32;

}  // namespace

MemoryPeaks::MemoryPeaks(const analyzer::MemoryLine& line)
    : line_(&line),
      lod_(line.values.size(), [&line](std::size_t i) { return static_cast<double>(line.values[i].bytes); }) {
  const auto& values = line.values;
  const auto sum_up = [&](std::size_t count, auto place_of) {
    std::vector<std::size_t> level;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % fan_out == 0) level.push_back(place_of(i));
      if (values[place_of(i)].bytes > values[level.back()].bytes) level.back() = place_of(i);
    }
    return level;
  };
  if (values.size() <= fan_out) return;
  levels_.push_back(sum_up(values.size(), [](std::size_t i) { return i; }));
  while (levels_.back().size() > fan_out) {
    const std::vector<std::size_t>& below = levels_.back();
    levels_.push_back(sum_up(below.size(), [&below](std::size_t i) { return below[i]; }));
  }
}

/// The largest whole blocks that fit, from left to right. The range is not empty.
std::size_t MemoryPeaks::first_highest(std::size_t begin, std::size_t end) const {
  std::size_t best = begin;
  for (std::size_t i = begin; i < end;) {
    std::size_t place = i;
    std::size_t length = 1;
    for (const auto& level : levels_) {
      const std::size_t longer = length * fan_out;
      if (i % longer != 0 || i + longer > end) break;
      length = longer;
      place = level[i / longer];
    }
    if (line_->values[place].bytes > line_->values[best].bytes) best = place;
    i += length;
  }
  return best;
}

std::optional<analyzer::MemoryValue> MemoryPeaks::in(TimeRange range) const {
  const auto& values = line_->values;
  auto first = std::ranges::lower_bound(values, range.begin, {}, &analyzer::MemoryValue::time);
  const auto end = std::ranges::lower_bound(values, range.end, {}, &analyzer::MemoryValue::time);
  const bool held = !line_->sampled && first != values.begin() && (first == end || first->time > range.begin);
  if (held) --first;
  if (first >= end) return std::nullopt;
  const auto place = [&values](auto at) { return static_cast<std::size_t>(at - values.begin()); };
  analyzer::MemoryValue peak = values[first_highest(place(first), place(end))];
  peak.time = std::max(peak.time, range.begin);
  return peak;
}

}  // namespace rankscope::gui
