#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/model_worker.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_tiles(const TrainOptions& options, const Placement& place) {
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const auto gradients, rendezvous->make_group(std::string{options.mode->group}, everybody(place)));
  RS_TRY(const auto halos, rendezvous->make_group("tile halo", everybody(place)));  // they never wait for a bucket
  return train_among(place, *rendezvous, {gradients.get(), halos.get()}, [&] {
    return train({options, place, gradients.get()}, [&](const WorkerPlan& plan) {
      return make_model_worker(
          plan, {.replicas = gradients.get(),
                 .tiles = std::make_shared<const Tiles>(*halos, *plan.plan.tiles, options.tile.exchange_halos)});
    });
  });
}

}  // namespace rankscope::trainer
