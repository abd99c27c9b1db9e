// Own times in windows of steps, and which ranks stand out in them (metrics.md 9.1 - 9.3).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "split/peers.h"

namespace rankscope::analyzer {

/// metrics.md 9.2: s is at least 1 % of c.
inline constexpr double least_sigma = 0.01;

/// Steps first .. first + count of the counted ones.
struct StepBlock {
  std::size_t first = 0;
  std::size_t count = 0;
};

inline constexpr std::size_t few_steps = 25;    ///< below: severity at most major (9.1)
inline constexpr std::size_t least_steps = 5;   ///< below: no windows
inline constexpr std::size_t firm_peers = 4;    ///< below: 9.3
inline constexpr std::size_t flags_needed = 3;  ///< of five consecutive windows
inline constexpr std::size_t consecutive_windows = 5;

/// The windows of 9.1; empty for fewer than 5 steps.
[[nodiscard]] std::vector<StepBlock> step_blocks(std::size_t steps);
/// Such as "5 comparison windows of 1 or 2 steps"; there must be a window.
[[nodiscard]] std::string text_of(std::span<const StepBlock> blocks);

/// One rank against its peers in one window.
struct OwnTimeComparison {
  std::int64_t own_ns = 0;    ///< x_r: median over the steps of the window
  std::int64_t peers_ns = 0;  ///< c: median of the other peers
  double ratio = 1;
  bool flagged = false;
};

/// All ranks in all windows: comparisons[peer][window].
struct WindowVerdicts {
  std::vector<StepBlock> blocks;
  std::vector<std::vector<OwnTimeComparison>> comparisons;
  double smallest_detectable = 0;  ///< slowdown that would still be found, e.g. 1.06

  [[nodiscard]] bool is_persistent(std::size_t peer) const;  ///< flagged in 3 of 5 consecutive windows
};

[[nodiscard]] WindowVerdicts compare_windows(const OwnTimes& times);

/// One rank in steps that were chosen because it is slow in them: the limits are higher than in windows (9.5).
[[nodiscard]] OwnTimeComparison compare_chosen(const OwnTimes& times, const StepBlock& steps, std::size_t peer);

}  // namespace rankscope::analyzer
