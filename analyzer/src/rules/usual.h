// Sums over ranks from which rules take shares and means.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

struct Usual {
  TimeSplit total;
  std::vector<IdleShare> idle_shares;  ///< the longest first
  std::int64_t steps = 0;              ///< of one rank; 0 = the whole recording was split
  std::int64_t ranks = 0;
  bool on_accelerators = true;  ///< all of them

  [[nodiscard]] double share(std::int64_t part) const {
    return total.window_ns > 0 ? static_cast<double>(part) / static_cast<double>(total.window_ns) : 0;
  }
  /// Mean over ranks and steps; 0 without steps.
  [[nodiscard]] std::int64_t per_step(std::int64_t part) const { return steps > 0 ? mean(part) : 0; }
  /// Mean over ranks, and over steps where there are any.
  [[nodiscard]] std::int64_t mean(std::int64_t part) const {
    return ranks > 0 ? part / (std::max<std::int64_t>(steps, 1) * ranks) : 0;
  }
};

enum class Whom : std::uint8_t { everybody, all_but_stragglers };

/// Of the ranks asked for; all 0 without rank rows.
[[nodiscard]] Usual sum_ranks(const Report& report, const ReportOptions& options, Whom whom);

}  // namespace rankscope::analyzer
