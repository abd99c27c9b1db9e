#include "rankscope/trainer/run_plan.h"

#include <algorithm>

#include "rankscope/core/format.h"

namespace rankscope::trainer {

Result<void> check_faults(const TrainOptions& options, int world_size, std::int64_t steps) {
  for (const auto& fault : options.faults) {
    if (fault.rank >= world_size) {
      return fail(ErrorKind::usage, format("--fault {}: there is no rank {}, only 0 to {}", fault_text(fault),
                                           fault.rank, world_size - 1));
    }
    if (const auto first = first_step_of(fault); steps > 0 && first >= steps) {
      return fail(ErrorKind::usage,
                  format("--fault {}: it would act in step {} first, but there are only steps 0 to {}",
                         fault_text(fault), first, steps - 1));
    }
  }
  return {};
}

Result<RunPlan> plan_run(const TrainOptions& options, const Placement& place, std::int64_t samples) {
  RS_TRY_VOID(check_faults(options, place.world_size, 0));
  if (samples < place.world_size) {
    return fail(ErrorKind::usage,
                format("{} ranks cannot share {} samples; use fewer ranks or more data", place.world_size, samples));
  }
  RunPlan plan;
  RS_TRY(plan.batch, batch_sizes(options, place.world_size));
  plan.loading = {.sampler = {.samples = samples, .ranks = place.world_size, .rank = place.rank, .seed = options.seed},
                  .batch = plan.batch.per_device};
  const std::int64_t steps_per_epoch = plan.loading.batches_per_epoch() / options.accumulate;
  if (steps_per_epoch == 0) {
    return fail(ErrorKind::usage, format("a step needs {} samples, but there are only {}; use a smaller batch",
                                         plan.batch.global, samples));
  }
  const std::int64_t all_epochs = options.epochs * steps_per_epoch;
  plan.steps = options.epochs == 0  ? options.steps
               : options.steps == 0 ? all_epochs
                                    : std::min(options.steps, all_epochs);
  RS_TRY_VOID(check_faults(options, place.world_size, plan.steps));
  return plan;
}

PaceMode effective_pace(const PaceOptions& options, int local_ranks, int cores) {
  if (options.mode == PaceMode::automatic && !options.given && local_ranks <= cores) return PaceMode::off;
  return options.mode;
}

}  // namespace rankscope::trainer
