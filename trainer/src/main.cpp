// rankscope-train: one process is either the launcher of the ranks of this machine, or one rank.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "engine/explain.h"
#include "engine/process.h"
#include "modes/catching.h"
#include "modes/registry.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/cpu_binding.h"
#include "rankscope/trainer/launcher.h"
#include "rankscope/trainer/log.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/pipeline_plan.h"
#include "rankscope/trainer/placement.h"
#include "rankscope/trainer/run_plan.h"

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
  return fail(ErrorKind::usage,
              format("--bind-cpus: rank {} was started with {} of {} cores, so {} has shared them out", place.rank,
                     allowed, online_cores(), place.source));
}

Result<int> run_mode(const TrainOptions& given, const Placement& place) {
  if (given.launch.restarts > 0 && place.source != "rankscope") {
    return fail(ErrorKind::usage,
                format("--restarts: {} has started the ranks and would have to start them again", place.source));
  }
  const TrainOptions options = after_restarts(given, place.restarts);
  if (place.restarts > 0) {
    log_progress(format("started again (restart {}): {}; faults that happen once do not happen again", place.restarts,
                        options.checkpoints.folder.empty() ? "from step 0, since there is no --checkpoints"
                                                           : "from the latest checkpoint"));
  }
  if (options.launch.ranks > 0 && options.launch.ranks * options.launch.nodes != place.world_size) {
    return fail(ErrorKind::usage, format("--ranks {} does not fit the {} ranks that {} has started",
                                         options.launch.ranks, place.world_size, place.source));
  }
  RS_TRY_VOID(open_log(options.launch.log_folder, place.rank));
  if (options.launch.bind_cpus) {
    RS_TRY_VOID(check_whole_mask(place));
    RS_TRY(const std::string cores, bind_to_cores({place.local_rank, place.local_world_size, options.threads}));
    annotate::metadata("cpus", cores.c_str());
  }
  RS_TRY(const Mode mode, find_mode(options.mode, place.world_size));
  set_up_torch(options);
  return catching([&] { return mode.run(options, place); });
}

// What is wrong with options or data is wrong on all ranks: one says it.
Result<int> run_rank(const TrainOptions& options, const Placement& place) {
  auto status = run_mode(options, place);
  const bool common =
      !status && (status.error().kind == ErrorKind::usage || status.error().kind == ErrorKind::unreadable);
  if (common && place.rank != 0 && place.source == "rankscope") return exit_status(status.error().kind);
  return status;
}

/// Before anybody waits for anybody.
Result<void> write_schedule(const TrainOptions& options, int world_size) {
  const std::string& path = options.pipeline.write_schedule;
  if (path.empty()) return {};
  RS_TRY(const int ranks, ranks_of_pipeline(options, world_size));
  RS_TRY(const PipelinePlan plan, plan_pipeline(options.pipeline, ranks));
  std::ofstream file{path};
  file << schedule_csv(plan);
  file.flush();
  if (file) return {};
  return fail(ErrorKind::cannot_write, format("--write-schedule {}: {}", path, std::strerror(errno)));
}

Result<void> check_data_folder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return fail(ErrorKind::usage, format("--data {}: there is no such folder", folder));
}

// What is wrong for all ranks is said once, before any is started.
Result<int> launch(TrainOptions options, const std::vector<std::string>& arguments) {
  options.launch.ranks = std::max(1, options.launch.ranks);
  const int world_size = options.launch.ranks * options.launch.nodes;
  RS_TRY_VOID(find_mode(options.mode, world_size));
  if (options.data.folder.empty()) {
    RS_TRY_VOID(plan_run(options, {.world_size = world_size}, options.data.samples));
  } else {
    RS_TRY_VOID(check_data_folder(options.data.folder));
    RS_TRY_VOID(check_faults(options, world_size, options.steps));  // how many steps the data has, the ranks find out
  }
  RS_TRY_VOID(write_schedule(options, world_size));
  if (options.launch.bind_cpus)
    RS_TRY_VOID(cores_of(allowed_cores(), {.ranks = options.launch.ranks, .threads = options.threads}));
  return launch_ranks(std::filesystem::read_symlink("/proc/self/exe"), arguments, options.launch);
}

Result<int> print_explained(const TrainOptions& options, const std::optional<Placement>& place) {
  const int ranks = place ? place->world_size : std::max(1, options.launch.ranks) * options.launch.nodes;
  RS_TRY_VOID(find_mode(options.mode, ranks));
  RS_TRY(const std::string text, catching([&] { return explain(options, ranks); }));
  if (!place || place->rank == 0) std::fputs(text.c_str(), stdout);
  return 0;
}

Result<int> run(int argc, const char* const* argv) {
  RS_TRY(const CommandLine line, parse_command_line(argc, argv, list_modes()));
  if (line.text) {
    std::fputs(line.text->c_str(), stdout);
    return 0;
  }
  RS_TRY(const auto place, placement_from(process_environment));
  if (line.explains) return print_explained(line.options, place);
  if (place && place->rank == 0 && place->source != "rankscope")  // else it was written before ranks were started
    RS_TRY_VOID(write_schedule(line.options, place->world_size));
  if (place) return run_rank(line.options, *place);
  return launch(line.options, {argv + 1, argv + argc});
}

}  // namespace
}  // namespace rankscope::trainer

int main(int argc, char** argv) {
  const auto status = rankscope::trainer::run(argc, argv);
  if (status && *status == 0) return 0;
  if (!status && !status.error().message.empty()) rankscope::trainer::log_error(status.error().message);
  std::fflush(nullptr);
  // A failed rank may still have a thread inside a collective that nobody will complete.
  _exit(status ? *status : rankscope::exit_status(status.error().kind));
}
