// When the events start that are searched for.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

/// By row of Run::processes(), ascending.
using HitTimes = std::vector<std::vector<RunTime>>;

/// Of all events whose names are lit (by StringId). Nothing if it was stopped.
[[nodiscard]] std::optional<HitTimes> hit_times(const Run& run, const std::vector<bool>& lit,
                                                const std::stop_token& stop);

}  // namespace rankscope::gui
