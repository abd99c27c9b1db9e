#include "engine/nominal_pace.h"

#include <algorithm>
#include <thread>

namespace rankscope::trainer {
namespace {

double own_pace(const PaceOptions& options, int busy, const std::function<std::chrono::nanoseconds()>& measure) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  switch (effective_pace(options, busy, cores)) {
    case PaceMode::off:
      return 0;
    case PaceMode::fixed:
      return options.milliseconds;
    case PaceMode::automatic:
      return static_cast<double>(automatic_pace(measure(), busy, cores).count());
  }
  return 0;
}

}  // namespace

Result<double> nominal_pace(const WorkerPlan& plan, int busy,
                            const std::function<std::chrono::nanoseconds()>& measure) {
  const at::Tensor pace = at::full({1}, own_pace(plan.options.pace, busy, measure), at::kDouble);
  if (plan.everybody != nullptr) RS_TRY_VOID(plan.everybody->allreduce_max(pace, "pace").wait());
  return pace.item<double>();
}

}  // namespace rankscope::trainer
