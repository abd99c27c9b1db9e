// Copies of a run in which one thing is different, made from its text form.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rankscope/core/model/run.h"

namespace rankscope::testing {

/// Every kernel of this name takes `factor` times as long; what comes behind it on any lane of the rank comes later by
/// that, and other work on a stream keeps its length. For runs of one rank.
[[nodiscard]] std::shared_ptr<const Run> with_longer_kernel(const Run& run, std::string_view name, double factor);

/// The run several times behind itself, with indices of steps and operations that go on. For runs of one rank.
[[nodiscard]] std::shared_ptr<const Run> repeated(const Run& run, int times);

}  // namespace rankscope::testing
