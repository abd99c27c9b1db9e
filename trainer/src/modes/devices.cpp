// The modes of one process, with one device or several.
#include "engine/training/training.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {
namespace {

Result<int> run_alone(const TrainOptions& options, const Placement& place, DeviceUse devices) {
  RS_TRY_VOID(
      train({options, place}, [&](const WorkerPlan& plan) { return make_model_worker(plan, {.devices = devices}); }));
  return 0;
}

}  // namespace

Result<int> run_single(const TrainOptions& options, const Placement& place) {
  return run_alone(options, place, DeviceUse::one);
}

Result<int> run_mp(const TrainOptions& options, const Placement& place) {
  return run_alone(options, place, DeviceUse::chain);
}

Result<int> run_dp(const TrainOptions& options, const Placement& place) {
  return run_alone(options, place, DeviceUse::replicas);
}

}  // namespace rankscope::trainer
