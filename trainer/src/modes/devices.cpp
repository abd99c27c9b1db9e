// The modes of one process with several devices.
#include "engine/training.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_mp(const TrainOptions& options, const Placement& place) {
  RS_TRY_VOID(train({.options = options, .place = place, .devices = DeviceUse::chain}));
  return 0;
}

Result<int> run_dp(const TrainOptions& options, const Placement& place) {
  RS_TRY_VOID(train({.options = options, .place = place, .devices = DeviceUse::replicas}));
  return 0;
}

}  // namespace rankscope::trainer
