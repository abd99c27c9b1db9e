// Sums of several ranks, shown as means.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace rankscope::analyzer {

/// Means per step and rank; per rank where no step counts.
struct Means {
  std::int64_t ranks = 0;
  std::int64_t rank_steps = 0;  ///< counted steps of all ranks together

  /// What a sum is divided by.
  [[nodiscard]] std::int64_t parts() const { return std::max<std::int64_t>(1, rank_steps > 0 ? rank_steps : ranks); }
  /// "mean per step and rank of 2 ranks", "mean per rank of 2 ranks", "mean per step", "whole recording".
  [[nodiscard]] std::string words() const;
  /// "0.25", "5.2", "1250": two digits below 1, one decimal, and none from 100 on.
  [[nodiscard]] std::string count(std::int64_t sum) const;
  /// Milliseconds with three decimals, rounded.
  [[nodiscard]] std::string ms(std::int64_t sum_ns) const;
};

/// "31.4 %"; "–" of nothing.
[[nodiscard]] std::string share_text(std::int64_t part, std::int64_t whole);

}  // namespace rankscope::analyzer
