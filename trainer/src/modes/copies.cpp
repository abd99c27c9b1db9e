// A copy of the model on each rank, or with ZeRO shards of it, which the model worker makes.
#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_copies(const TrainOptions& options, const Placement& place) {
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto comm, rendezvous->make_group(std::string{options.mode->group}, everybody(place)));
  std::unique_ptr<Comm> norms;
  if (options.sync_batch_norm) {
    RS_TRY(norms, rendezvous->make_group("batch norm", everybody(place)));
  }
  return train_among(place, *rendezvous, {comm.get(), norms.get()}, [&] {
    return train({options, place, comm.get()}, [&](const WorkerPlan& plan) {
      return make_model_worker(plan, {.replicas = comm.get(), .devices = options.mode->devices, .norms = norms.get()});
    });
  });
}

}  // namespace rankscope::trainer
