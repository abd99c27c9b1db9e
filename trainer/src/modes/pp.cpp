#include <numeric>

#include "engine/pipeline_training.h"
#include "modes/ending.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_pp(const TrainOptions& options, const Placement& place) {
  if (place.world_size == 1) {
    RS_TRY_VOID(train_pipeline({.options = options, .place = place}));
    return 0;
  }
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  std::vector<int> everybody(static_cast<std::size_t>(place.world_size));
  std::iota(everybody.begin(), everybody.end(), 0);
  RS_TRY(const auto all, rendezvous->make_group("pp", everybody));
  RS_TRY(const auto forward, rendezvous->make_group("pp forward", everybody));
  RS_TRY(const auto backward, rendezvous->make_group("pp backward", everybody));
  return train_among(place, *rendezvous, {all.get(), forward.get(), backward.get()}, [&] {
    return train_pipeline(
        {.options = options, .place = place, .all = all.get(), .forward = forward.get(), .backward = backward.get()});
  });
}

}  // namespace rankscope::trainer
