#include "engine/worker/nominal_pace.h"

#include <algorithm>
#include <thread>

namespace rankscope::trainer {
namespace {

// What is measured is the time of cores, which GPUs do not share.
PaceMode own_mode(const WorkerPlan& plan, int busy, int cores) {
  if (plan.place.gpu && plan.options.pace.mode == PaceMode::automatic) return PaceMode::off;
  return effective_pace(plan.options.pace, busy, cores);
}

// Hosts may differ in their cores, and a measurement may need all ranks: where one of them measures, all do.
Result<PaceMode> common_mode(const WorkerPlan& plan, PaceMode own) {
  const bool one_host = plan.place.local_world_size == plan.place.world_size;
  if (plan.everybody == nullptr || one_host || plan.options.pace.mode != PaceMode::automatic) return own;
  const at::Tensor measures = at::full({1}, own == PaceMode::automatic ? 1.0 : 0.0, at::kDouble);
  RS_TRY_VOID(plan.everybody->allreduce_max(measures, "pace is measured").wait());
  return measures.item<double>() > 0 ? PaceMode::automatic : own;
}

}  // namespace

Result<double> nominal_pace(const WorkerPlan& plan, int busy,
                            const std::function<std::chrono::nanoseconds()>& measure) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  RS_TRY(const PaceMode mode, common_mode(plan, own_mode(plan, busy, cores)));
  const at::Tensor pace = at::zeros({1}, at::kDouble);
  switch (mode) {
    case PaceMode::off:
      break;
    case PaceMode::fixed:
      pace.fill_(plan.options.pace.milliseconds);
      break;
    case PaceMode::automatic:
      pace.fill_(static_cast<double>(automatic_pace(measure(), busy, cores).count()));
      break;
  }
  if (plan.everybody != nullptr) RS_TRY_VOID(plan.everybody->allreduce_max(pace, "pace").wait());
  return pace.item<double>();
}

}  // namespace rankscope::trainer
