// Copies of a run in which one thing is different, made from its text form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::testing {

/// Every kernel of this name takes `factor` times as long; what comes behind it on any lane of the rank comes later by
/// that, and other work on a stream keeps its length. For runs of one rank.
[[nodiscard]] std::shared_ptr<const Run> with_longer_kernel(const Run& run, std::string_view name, double factor);

/// The run several times behind itself, with indices of steps and operations that go on. For runs of one rank.
[[nodiscard]] std::shared_ptr<const Run> repeated(const Run& run, int times);

/// A clock that is off, and gains on the others.
struct Skew {
  std::int64_t offset_ns = 0;
  double drift_ppm = 0;
};

/// The run as if each rank had run on a host of its own, named "host 0", ..., with such a clock; one skew per rank.
/// What it says of its clocks is that they are wall clocks.
[[nodiscard]] std::shared_ptr<const Run> with_skewed_clocks(const Run& run, const std::vector<Skew>& skews);

}  // namespace rankscope::testing
