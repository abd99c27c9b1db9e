#include "engine/pipeline/stage_worker.h"
#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_stages(const TrainOptions& options, const Placement& place) {
  if (place.world_size == 1) {
    RS_TRY_VOID(train({options, place}, [](const WorkerPlan& plan) { return make_stage_worker(plan, {}); }));
    return 0;
  }
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto all, rendezvous->make_group("pp", everybody(place)));
  RS_TRY(const auto forward, rendezvous->make_group("pp forward", everybody(place), Traffic::stages));
  RS_TRY(const auto backward, rendezvous->make_group("pp backward", everybody(place), Traffic::stages));
  return train_among(place, *rendezvous, {all.get(), forward.get(), backward.get()}, [&] {
    return train({options, place, all.get()}, [&](const WorkerPlan& plan) {
      return make_stage_worker(plan, {.pipeline = PipelineGroups{*forward, *backward}});
    });
  });
}

}  // namespace rankscope::trainer
