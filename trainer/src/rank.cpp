#include "job.h"

#include <string>

#include "engine/catching.h"
#include "engine/training/process.h"
#include "modes/modes.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/cpu_binding.h"
#include "rankscope/trainer/launch/log.h"

namespace rankscope::trainer {
namespace {

/// After a restart training goes on where it was saved, and a rank that has been lost is not lost again.
TrainOptions after_restarts(TrainOptions options, int restarts) {
  if (restarts == 0) return options;
  CheckpointOptions& checkpoints = options.checkpoints;
  if (!checkpoints.folder.empty() && checkpoints.resume == Resume::no) checkpoints.resume = Resume::if_saved;
  std::erase_if(options.faults, [](const Fault& fault) { return happens_once(fault.kind); });
  return options;
}

// Ranks of another launcher may have cores of their own already, of which each would take a share.
Result<void> check_whole_mask(const Placement& place) {
  const std::size_t allowed = allowed_cores().size();
  if (place.source == "rankscope" || allowed == online_cores()) return {};
  return fail(
      ErrorKind::usage,
      format("--bind-cpus: rank {} was started with {} of {} cores, so {} has already divided them; omit --bind-cpus",
             place.rank, allowed, online_cores(), place.source));
}

Result<int> train_as_rank(const TrainOptions& given, const Placement& place) {
  if (given.launch.restarts > 0 && place.source != "rankscope") {
    return fail(
        ErrorKind::usage,
        format("--restarts cannot be used here: {} started the ranks, so only it can restart them", place.source));
  }
  TrainOptions options = after_restarts(given, place.restarts);
  if (place.restarts > 0) {
    log_progress(format("restart {}: training {}; faults that happen once are not repeated", place.restarts,
                        options.checkpoints.folder.empty() ? "starts again at step 0, since --checkpoints was not given"
                                                           : "continues from the latest checkpoint"));
  }
  if (options.launch.ranks > 0 && options.launch.ranks * options.launch.nodes != place.world_size) {
    return fail(ErrorKind::usage, format("--ranks {} does not match the {} that {} started", options.launch.ranks,
                                         counted(place.world_size, "rank"), place.source));
  }
  RS_TRY_VOID(open_log(options.launch.log_folder, place.rank));
  if (options.launch.bind_cpus) {
    RS_TRY_VOID(check_whole_mask(place));
    RS_TRY(const std::string cores, bind_to_cores({place.local_rank, place.local_world_size, options.threads}));
    annotate::metadata("cpus", cores.c_str());
  }
  RS_TRY_VOID(fit_to_ranks(options, place.world_size));
  Placement on_device = place;
  RS_TRY(on_device.gpu, take_gpu(options, place));
  on_device.shares_gpu = options.device.share_gpu;
  set_up_torch(options);
  return catching([&] { return run_mode(options, on_device); });
}

}  // namespace

// What is wrong with options or data is wrong on all ranks: one says it.
Result<int> run_rank(const TrainOptions& options, const Placement& place) {
  auto status = train_as_rank(options, place);
  const bool common =
      !status && (status.error().kind == ErrorKind::usage || status.error().kind == ErrorKind::unreadable);
  if (common && place.rank != 0 && place.source == "rankscope") return exit_status(status.error().kind);
  return status;
}

}  // namespace rankscope::trainer
