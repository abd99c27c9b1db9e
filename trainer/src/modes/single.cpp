#include "engine/training.h"
#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_single(const TrainOptions& options, const Placement& place) {
  RS_TRY_VOID(train({.options = options, .place = place, .comm = nullptr}));
  return 0;
}

}  // namespace rankscope::trainer
