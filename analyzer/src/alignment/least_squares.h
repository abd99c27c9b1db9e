// Positions that agree best with weighted differences between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::analyzer::clocks {

/// A measured difference: position of b minus position of a.
struct Difference {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double value = 0;
  double weight = 1;
};

/// Minimizes the weighted squares of what the positions leave of the differences. A position that is `fixed` is 0;
/// each set of connected ones needs one.
[[nodiscard]] std::vector<double> positions_of(std::span<const Difference> differences, const std::vector<bool>& fixed);

}  // namespace rankscope::analyzer::clocks
