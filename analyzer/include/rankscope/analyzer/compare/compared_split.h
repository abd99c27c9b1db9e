// Where the time of a step went in two runs (metrics.md 17.2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// The parts of a step's window, each instant in one of them.
enum class SplitPart : std::uint8_t {
  compute,
  exposed_wait,
  exposed_transfer,
  exposed_unsplit,
  memory,
  idle_host,
  idle_sync,
  idle_data,
  idle_kernel_gap,
  idle_other,
};
inline constexpr std::size_t split_part_count = 10;
[[nodiscard]] std::string_view name_of(SplitPart part);

/// Mean of a step and rank in whole ns; the parts add up to the window (metrics.md C2).
struct SplitMean {
  std::int64_t window_ns = 0;
  std::array<std::int64_t, split_part_count> parts_ns{};
  std::int64_t rank_steps = 0;
  [[nodiscard]] std::int64_t of(SplitPart part) const { return parts_ns[static_cast<std::size_t>(part)]; }
};

/// One rank, or several that do equal work, in both runs.
struct SplitChange {
  std::string who;         ///< "all ranks", "rank 2", "stage 1"
  bool is_of_all = false;  ///< of the only peers that there are
  std::vector<RankId> ranks_a;
  std::vector<RankId> ranks_b;
  SplitMean a;
  SplitMean b;
  /// By how much the part grew; over all parts it adds up to that of the window.
  [[nodiscard]] std::int64_t change_ns(SplitPart part) const { return b.of(part) - a.of(part); }
  [[nodiscard]] std::int64_t window_change_ns() const { return b.window_ns - a.window_ns; }
};

/// In which part of the time the steps of two runs differ.
struct SplitComparison {
  SplitChange all;
  std::vector<SplitChange> ranks;  ///< pairs of equal number, else peer classes of equal name
  std::string pairing;             ///< how they were paired, and who was left out
};

}  // namespace rankscope::analyzer
