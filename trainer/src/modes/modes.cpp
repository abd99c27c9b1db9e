#include "modes/modes.h"

namespace rankscope::trainer {

Result<int> run_mode(const TrainOptions& options, const Placement& place) {
  const bool is_alone = place.world_size == 1;
  switch (options.mode->work) {
    case Work::alone:
      break;
    case Work::copies:
      if (!is_alone) return run_copies(options, place);
      break;
    case Work::layers:
      if (!is_alone) return run_layers(options, place);
      break;
    case Work::tiles:
      if (!is_alone) return run_tiles(options, place);
      break;
    case Work::stages:
      return run_stages(options, place);
    case Work::mesh:
      return is_alone ? run_stages(options, place) : run_mesh(options, place);
  }
  return run_alone(options, place);
}

}  // namespace rankscope::trainer
