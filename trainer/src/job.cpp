#include "job.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/cpu_binding.h"
#include "rankscope/trainer/launch/gpu_plan.h"
#include "rankscope/trainer/launch/launcher.h"
#include "rankscope/trainer/plan/pipeline_plan.h"
#include "rankscope/trainer/plan/run_plan.h"

namespace rankscope::trainer {
namespace {

Result<void> check_data_folder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return fail(ErrorKind::usage, format("--data {}: no such folder", folder));
}

}  // namespace

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

Result<int> launch_job(TrainOptions options, const std::vector<std::string>& arguments) {
  options.launch.ranks = std::max(1, options.launch.ranks);
  const int world_size = options.launch.ranks * options.launch.nodes;
  RS_TRY_VOID(fit_to_ranks(options, world_size));
  if (options.data.folder.empty()) {
    RS_TRY_VOID(plan_run(options, {.world_size = world_size}, options.data.samples));
  } else {
    RS_TRY_VOID(check_data_folder(options.data.folder));
    RS_TRY_VOID(check_faults(options, world_size, options.steps));  // how many steps the data has, the ranks find out
  }
  if (options.device.wish == DeviceWish::cuda) {
    const Placement any{.world_size = world_size, .local_world_size = options.launch.ranks, .source = "rankscope"};
    RS_TRY_VOID(choose_gpu(options, any, find_gpus()));
  }
  RS_TRY_VOID(write_schedule(options, world_size));
  if (options.launch.bind_cpus)
    RS_TRY_VOID(cores_of(allowed_cores(), {.ranks = options.launch.ranks, .threads = options.threads}));
  return launch_ranks(std::filesystem::read_symlink("/proc/self/exe"), arguments, options.launch);
}

}  // namespace rankscope::trainer
