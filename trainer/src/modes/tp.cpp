#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {
namespace {

Result<int> run_with(const TrainOptions& options, const Placement& place, SequenceParallel sequence) {
  if (place.world_size == 1) return run_single(options, place);
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto comm, rendezvous->make_group("tp", everybody(place)));
  return train_among(place, *rendezvous, {comm.get()}, [&] {
    return train({options, place, comm.get()}, [&](const WorkerPlan& plan) {
      return make_model_worker(plan, {.split = {comm.get(), sequence}});
    });
  });
}

}  // namespace

Result<int> run_tp(const TrainOptions& options, const Placement& place) {
  return run_with(options, place, SequenceParallel::no);
}

Result<int> run_tp_sp(const TrainOptions& options, const Placement& place) {
  return run_with(options, place, SequenceParallel::yes);
}

}  // namespace rankscope::trainer
