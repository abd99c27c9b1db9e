#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_layers(const TrainOptions& options, const Placement& place) {
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto comm, rendezvous->make_group(std::string{options.mode->group}, everybody(place)));
  return train_among(place, *rendezvous, {comm.get()}, [&] {
    return train({options, place, comm.get()}, [&](const WorkerPlan& plan) {
      return make_model_worker(plan, {.split = {comm.get(), options.mode->sequence}});
    });
  });
}

}  // namespace rankscope::trainer
