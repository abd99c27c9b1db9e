#include "modes/registry.h"

#include <algorithm>
#include <array>

#include "modes/modes.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr std::array modes{
    Mode{"3d", "copies of a pipeline whose layers are split: --dp D --tp T --pp P", ModeRanks::any, run_3d},
    Mode{"ddp", "every rank has the whole model and a part of each batch", ModeRanks::any, run_ddp},
    Mode{"ddp+mp", "ddp, and each rank's model spread over its devices", ModeRanks::any, run_ddp_mp},
    Mode{"dp", "one process, a replica on each device, all through device 0", ModeRanks::one, run_dp},
    Mode{"mp", "one process, layers spread over devices, one busy at a time", ModeRanks::one, run_mp},
    Mode{"pp", "a pipeline: every rank has some layers, micro-batches flow through them", ModeRanks::any, run_pp},
    Mode{"single", "one process, no communication; the reference for the others", ModeRanks::one, run_single},
    Mode{"tile", "each image is cut into tiles, one per rank, which exchange halos", ModeRanks::any, run_tile},
    Mode{"tp", "every rank has a part of each layer, all work on the same samples", ModeRanks::any, run_tp},
    Mode{"tp+sp", "tp, and between the layers a part of each sequence", ModeRanks::any, run_tp_sp},
    Mode{"zero1", "as ddp, each rank with a shard of the optimizer's state", ModeRanks::any, run_zero},
    Mode{"zero2", "as zero1, and of the gradients", ModeRanks::any, run_zero},
    Mode{"zero3", "as zero2, and of the parameters", ModeRanks::any, run_zero},
};

}  // namespace

std::span<const Mode> all_modes() { return modes; }

std::string list_modes() {
  std::string text;
  for (const auto& mode : modes) text += format("{}{} ({})", text.empty() ? "" : ", ", mode.id, mode.summary);
  return text;
}

Result<Mode> find_mode(const std::string& id, int world_size) {
  const auto* mode = std::ranges::find(modes, id, &Mode::id);
  if (mode == modes.end()) {
    return fail(ErrorKind::usage, format("--parallel {}: no such mode yet; there are: {}", id, list_modes()));
  }
  if (mode->ranks == ModeRanks::one && world_size != 1) {
    return fail(ErrorKind::usage, format("--parallel {} runs on one rank, not on {}", id, world_size));
  }
  return *mode;
}

}  // namespace rankscope::trainer
