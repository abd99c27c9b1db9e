#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {
namespace {

Result<int> run_with(const TrainOptions& options, const Placement& place, DeviceUse devices) {
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto comm, rendezvous->make_group("dp", everybody(place)));
  std::unique_ptr<Comm> norms;
  if (options.sync_batch_norm) {
    RS_TRY(norms, rendezvous->make_group("batch norm", everybody(place)));
  }
  return train_among(place, *rendezvous, {comm.get(), norms.get()}, [&] {
    return train({options, place, comm.get()}, [&](const WorkerPlan& plan) {
      return make_model_worker(plan, {.replicas = comm.get(), .devices = devices, .norms = norms.get()});
    });
  });
}

}  // namespace

Result<int> run_ddp(const TrainOptions& options, const Placement& place) {
  return place.world_size == 1 ? run_single(options, place) : run_with(options, place, DeviceUse::one);
}

Result<int> run_ddp_mp(const TrainOptions& options, const Placement& place) {
  return place.world_size == 1 ? run_mp(options, place) : run_with(options, place, DeviceUse::chain);
}

/// The model worker shards where the mode says so, on one rank as well.
Result<int> run_zero(const TrainOptions& options, const Placement& place) { return run_ddp(options, place); }

}  // namespace rankscope::trainer
