// The nominal compute time of a step, the same on all ranks.
#pragma once

#include <chrono>
#include <functional>

#include "engine/worker/worker.h"

namespace rankscope::trainer {

/// Milliseconds per rank and step, 0 = unpaced. `busy` is what computes at once on this host: ranks, or their devices.
/// An automatic pace is measured on all ranks at once, since they disturb one another; the slowest decides for all.
/// `measure` gives the CPU time of one step of this rank.
[[nodiscard]] Result<double> nominal_pace(const WorkerPlan& plan, int busy,
                                          const std::function<std::chrono::nanoseconds()>& measure);

}  // namespace rankscope::trainer
