#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_tile(const TrainOptions& options, const Placement& place) {
  if (place.world_size == 1) return run_single(options, place);
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto gradients, rendezvous->make_group("tile", everybody(place)));
  RS_TRY(const auto halos, rendezvous->make_group("tile halo", everybody(place)));  // they never wait behind a bucket
  return train_among(place, *rendezvous, {gradients.get(), halos.get()}, [&] {
    return train({options, place, gradients.get()}, [&](const WorkerPlan& plan) {
      return make_model_worker(
          plan, {.replicas = gradients.get(),
                 .tiles = std::make_shared<const Tiles>(*halos, *plan.plan.tiles, options.tile.exchange_halos)});
    });
  });
}

}  // namespace rankscope::trainer
