// A process takes its GPU, or stays on the CPU.
#include <stdlib.h>

#include "engine/catching.h"
#include "engine/comm/accelerator.h"
#include "engine/training/process.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/gpu_plan.h"
#include "rankscope/trainer/launch/log.h"

namespace rankscope::trainer {
namespace {

// NCCL_HOSTID must be this rank's own, whatever it was; what else the user has set stays.
void set_environment(const TrainOptions& options, const Placement& place) {
  for (const auto& [name, value] : gpu_environment()) setenv(name.c_str(), value.c_str(), 0);
  if (!options.device.share_gpu) return;
  for (const auto& [name, value] : sharing_environment(place.rank))
    setenv(name.c_str(), value.c_str(), name == "NCCL_HOSTID" ? 1 : 0);
}

Result<void> start_gpu(const TrainOptions& options, const Placement& place, int device) {
  set_environment(options, place);
  RS_TRY_VOID(load_accelerator());
  auto started = catching([&]() -> Result<void> {
    accelerator()->use(device);
    accelerator()->finish();
    return {};
  });
  if (!started) forget_accelerator();
  return started;
}

}  // namespace

Result<std::optional<int>> take_gpu(const TrainOptions& options, const Placement& place) {
  if (options.device.wish == DeviceWish::cpu) return std::nullopt;
  RS_TRY(GpuChoice choice, choose_gpu(options, place, find_gpus()));
  if (choice.first) {
    const auto started = start_gpu(options, place, *choice.first);
    if (!started && options.device.wish == DeviceWish::cuda) {
      const std::string sentence = format("--device cuda: {}", started.error().message);
      if (place.rank != 0) log_error(format("rank {}: {}", place.rank, sentence));  // perhaps only this one's
      return fail(ErrorKind::usage, sentence);
    }
    if (!started) choice = {.reason = started.error().message};
  }
  if (!choice.reason.empty()) log_progress(format("training on the CPU: {}", choice.reason));
  if (choice.first && options.device.share_gpu)
    log_progress(
        "ranks share GPUs (--share-gpu) and communicate through sockets: times do not show the speed of the network");
  return choice.first;
}

}  // namespace rankscope::trainer
