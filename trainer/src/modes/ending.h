// What modes with several ranks have in common: who takes part, and how it ends.
#pragma once

#include <functional>
#include <vector>

#include "engine/comm/comm.h"
#include "engine/comm/gloo.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"

namespace rankscope::trainer {

/// All ranks, in order.
[[nodiscard]] std::vector<int> everybody(const Placement& place);

/// Trains, and returns the exit status. Where one of `groups` (null ones do not count) fails because a rank is lost,
/// that rank is named in the log and the status is 1.
[[nodiscard]] Result<int> train_among(const Placement& place, Rendezvous& rendezvous,
                                      const std::vector<const Comm*>& groups,
                                      const std::function<Result<void>()>& train);

}  // namespace rankscope::trainer
