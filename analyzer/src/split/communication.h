// Whether enough communication was recorded to separate waiting for other ranks from work (metrics.md 2.9).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankscope/analyzer/split/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Why ranks of this run are not compared: "no collectives were recorded: waiting for ..."; empty if they can be, or if
/// there is only one.
[[nodiscard]] std::string why_waits_are_hidden(const Run& run, std::span<const RankRow> rows);

/// "communication of rank 1 was recorded in only 17 of 20 steps"; empty if it was in nine tenths of the steps of each
/// rank.
[[nodiscard]] std::string quiet_steps(const Run& run, std::span<const RankRow> rows);

/// The first part of such a reason: "no collectives were recorded".
[[nodiscard]] std::string_view cause_alone(std::string_view why);

}  // namespace rankscope::analyzer
