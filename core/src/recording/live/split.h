// What steps were spent on, from stretches of time of what a process did.
#pragma once

#include <span>
#include <vector>

#include "rankscope/core/recording/live.h"

namespace rankscope::recording {

/// In the order in which they count; `step` is no part of itself.
enum class LiveLayer : std::uint8_t { compute, communication, copies, data, wait };
inline constexpr std::size_t live_layer_count = 5;

struct LiveStretch {
  HostTime begin{};
  HostTime end{};
  LiveLayer layer{};
};

/// Splits steps that do not overlap, in ascending order; stretches may overlap and are in any order.
void split_steps(std::span<LiveStep> steps, std::span<const LiveStretch> stretches);

}  // namespace rankscope::recording
