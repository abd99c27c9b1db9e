// What a rank had spent its time on before each moment that matters for who made others wait (metrics.md 10.2).
#pragma once

#include <array>
#include <vector>

#include "rankscope/analyzer/blame/section.h"
#include "split/layers.h"

namespace rankscope::analyzer {

/// By DelayPart, but what stands last is not unexplained: it is waiting for other ranks in matched operations.
using Spent = std::array<std::int64_t, delay_part_count>;
inline constexpr std::size_t spent_waiting = delay_part_count - 1;

/// Each instant is charged once, as in the time split (C8). The times must ascend; the first one has nothing before it.
[[nodiscard]] std::vector<Spent> spent_before(const Layers& layers, std::span<const RunTime> times);

}  // namespace rankscope::analyzer
