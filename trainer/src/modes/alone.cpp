// The modes of one process, with one device or several.
#include "engine/training/training.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_alone(const TrainOptions& options, const Placement& place) {
  RS_TRY_VOID(train({options, place}, [&](const WorkerPlan& plan) {
    return make_model_worker(plan, {.devices = options.mode->devices});
  }));
  return 0;
}

}  // namespace rankscope::trainer
