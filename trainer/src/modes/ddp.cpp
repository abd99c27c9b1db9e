#include <numeric>

#include "engine/training.h"
#include "modes/ending.h"
#include "modes/modes.h"

namespace rankscope::trainer {
namespace {

Result<int> run_with(const TrainOptions& options, const Placement& place, DeviceUse devices) {
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  std::vector<int> everybody(static_cast<std::size_t>(place.world_size));
  std::iota(everybody.begin(), everybody.end(), 0);
  RS_TRY(const auto comm, rendezvous->make_group("dp", std::move(everybody)));
  return train_among(place, *rendezvous, {comm.get()}, [&] {
    return train({.options = options, .place = place, .comm = comm.get(), .devices = devices});
  });
}

}  // namespace

Result<int> run_ddp(const TrainOptions& options, const Placement& place) {
  return place.world_size == 1 ? run_single(options, place) : run_with(options, place, DeviceUse::one);
}

Result<int> run_ddp_mp(const TrainOptions& options, const Placement& place) {
  return place.world_size == 1 ? run_mp(options, place) : run_with(options, place, DeviceUse::chain);
}

}  // namespace rankscope::trainer
