#include "engine/description.h"

#include "rankscope/core/format.h"
#include "rankscope/trainer/cpu_features.h"
#include "rankscope/trainer/log.h"

namespace rankscope::trainer {

void describe(const WorkerPlan& run, const WorkerDescription& worker) {
  const TrainOptions& options = run.options;
  const std::string faults = all_fault_texts(options.faults);
  note("role", "trainer");
  note("parallel", options.mode);
  note("model", name_of(options.model.kind));
  note("parameters", std::to_string(worker.parameters));
  note("global_batch", std::to_string(run.plan.batch.global));
  note("batch_per_device", std::to_string(run.plan.batch.per_device));
  note("accumulate", std::to_string(options.accumulate));
  note("dtype", name_of(options.dtype));
  note("data", run.source.name());
  if (options.data.lengths.vary()) note("seq_dist", text_of(options.data.lengths));
  note("steps", std::to_string(run.plan.steps));
  note("torch_version", RANKSCOPE_TORCH_VERSION);
  note("pace_ms", format("{}", worker.pace_ms));
  if (!faults.empty()) note("injected_faults", faults);
  log_progress(format("{} on {}: {} with {} parameters ({}), {} data of {} samples", options.mode,
                      counted(run.place.world_size, "rank"), name_of(options.model.kind), worker.parameters,
                      name_of(options.dtype), run.source.name(), run.source.samples()));
  log_progress(
      format("global batch {} = {}; {}; {}", run.plan.batch.global, worker.batch, counted(run.plan.steps, "step"),
             worker.pace_ms > 0 ? format("paced: {} ms nominal compute per step", worker.pace_ms) : "unpaced"));
  if (options.dtype == DataType::bf16 && !run.place.gpu && !computes_bf16(cpu_features())) {
    log_progress(
        "this processor has no instructions for bf16 (avx512_bf16, amx_bf16 or Arm's bf16): results are the same, but "
        "steps take longer than with --dtype f32");
  }
  if (!faults.empty()) log_progress(format("injected faults: {}", faults));
}

}  // namespace rankscope::trainer
