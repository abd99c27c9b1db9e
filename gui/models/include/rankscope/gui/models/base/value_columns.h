// Samples of a quantity as one column of pixels sees them.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "rankscope/core/lod/value_lod.h"
#include "rankscope/gui/models/base/time_scale.h"

namespace rankscope::gui {

/// What the values of one pixel are between, and the one that goes on to the next.
struct ValueColumn {
  double least = 0;
  double greatest = 0;
  double last = 0;
  bool operator==(const ValueColumn&) const = default;
};

/// One per pixel of the scale; where there is no sample the last value holds. Nothing before the first sample. Samples
/// have a `time` and are sorted by it; `lod` is of their values.
template <class Sample, class Value>
[[nodiscard]] std::vector<std::optional<ValueColumn>> value_columns(std::span<const Sample> samples,
                                                                    const lod::ValueLod& lod, const TimeScale& scale,
                                                                    Value value_of) {
  std::vector<std::optional<ValueColumn>> columns(static_cast<std::size_t>(scale.width));
  auto at = std::ranges::upper_bound(samples, scale.time.begin, {}, &Sample::time);
  const auto index = [&samples](auto place) { return static_cast<std::size_t>(place - samples.begin()); };
  std::optional<double> held;
  if (at != samples.begin()) held = value_of(*std::prev(at));
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const RunTime edge = scale.time_at(scale.left + static_cast<double>(x + 1));
    if (held) columns[x] = ValueColumn{*held, *held, *held};
    const auto next = std::ranges::lower_bound(at, samples.end(), edge, {}, &Sample::time);
    if (at == next) continue;
    lod::Bounds bounds = lod.of(index(at), index(next), [&](std::size_t i) { return value_of(samples[i]); });
    if (held) bounds = bounds.with({*held, *held});
    held = value_of(*std::prev(next));
    columns[x] = ValueColumn{bounds.least, bounds.greatest, *held};
    at = next;
  }
  return columns;
}

}  // namespace rankscope::gui
