#include <numeric>

#include "engine/gloo.h"
#include "engine/training.h"
#include "modes/modes.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/log.h"

namespace rankscope::trainer {
namespace {

// Autograd hooks can only throw: what comes out of them becomes an error here.
Result<void> train_catching(const TrainingJob& job) {
  try {
    return train(job);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return fail(ErrorKind::not_computable, what.substr(0, what.find('\n')));
  }
}

}  // namespace

Result<int> run_ddp(const TrainOptions& options, const Placement& place) {
  if (place.world_size == 1) return run_single(options, place);
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  std::vector<int> everybody(static_cast<std::size_t>(place.world_size));
  std::iota(everybody.begin(), everybody.end(), 0);
  RS_TRY(const auto comm, rendezvous->make_group("dp", std::move(everybody)));
  const auto trained = train_catching({.options = options, .place = place, .comm = comm.get()});
  if (trained) return 0;
  if (!comm->has_failed()) return tl::make_unexpected(trained.error());
  const std::string gone = rendezvous->who_is_gone();
  log_error(format("rank {}: {}; {}", place.rank, gone.empty() ? "a peer could not be reached" : gone,
                   trained.error().message));
  return 1;
}

}  // namespace rankscope::trainer
