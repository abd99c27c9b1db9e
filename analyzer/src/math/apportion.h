// Whole numbers that add up to a whole (metrics.md C2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::analyzer {

/// `parts` in whole units that add up to `whole` (largest remainder, ties to the first; metrics.md C2). All 0 if the
/// parts are.
[[nodiscard]] std::vector<std::int64_t> apportioned(std::span<const std::int64_t> parts, std::int64_t whole);

}  // namespace rankscope::analyzer
