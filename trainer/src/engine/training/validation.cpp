#include "engine/training/validation.h"

#include <algorithm>

#include "engine/step/devices.h"
#include "engine/step/sample_feed.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/log.h"

namespace rankscope::trainer {
namespace {

constexpr std::int64_t usual_samples = 512;

}  // namespace

Validation::Validation(const WorkerPlan& plan, std::unique_ptr<SampleSource> source, std::int64_t samples)
    : plan_(plan), source_(std::move(source)), samples_(samples), batch_(plan.plan.batch.per_device) {
  if (plan_.plan.pipeline) batch_ /= plan_.plan.pipeline->micro_batches;  // for which its stages have shapes
}

Result<std::unique_ptr<Validation>> Validation::plan(const WorkerPlan& plan) {
  const ValidationOptions& options = plan.options.validation;
  if (options.every == 0) return nullptr;
  RS_TRY(auto source, open_validation_samples(plan.options));
  if (source->shape() != plan.source.shape()) {
    return fail(ErrorKind::unreadable,
                format("{}: the test part has images of another shape than the training part", plan.source.name()));
  }
  const std::int64_t there = source->samples();
  if (options.samples > there) {
    return fail(ErrorKind::usage, format("--validation-samples {}: there are only {}", options.samples, there));
  }
  const std::int64_t samples = options.samples > 0 ? options.samples : std::min(usual_samples, there);
  return std::unique_ptr<Validation>{new Validation{plan, std::move(source), samples}};
}

// As many for each share, so that ranks that need one another for a forward call it equally often.
std::int64_t Validation::parts() const {
  const std::int64_t at_once = batch_ * plan_.plan.loading.sampler.ranks;
  return (samples_ + at_once - 1) / at_once;
}

Validation::Part Validation::part(std::int64_t index) const {
  const DistributedSampler& share = plan_.plan.loading.sampler;
  Batch batch;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t sample = (index * batch_ + i) * share.ranks + share.rank;
    source_->append(sample % samples_, batch);
    if (sample < samples_) ++counted;
  }
  return {on_device(device_of(plan_.place), inputs_of(batch, source_->shape(), plan_.options.dtype)), counted};
}

Result<void> Validation::after_step(std::int64_t done, Worker& worker) {
  if (done % plan_.options.validation.every != 0 && done != plan_.plan.steps) return {};
  annotate::Span span{annotate::Kind::user, "validation"};
  RS_TRY_VOID(worker.begin_evaluation());
  Totals totals;
  for (std::int64_t index = 0; index < parts(); ++index) {
    const Part samples = part(index);
    RS_TRY(const Totals more, worker.evaluate(samples.inputs, samples.counted));
    totals.add(more);
  }
  RS_TRY(totals, totals_of_all(plan_.everybody, totals, "validation"));
  const double loss = totals.loss / totals.count;
  const double accuracy = totals.correct / totals.count;
  annotate::counter("validation_loss", loss);
  annotate::counter("validation_accuracy", accuracy);
  log_progress(format("validation after step {:>5}  loss {:.4f}  accuracy {:5.1f} %  of {}", done, loss, 100 * accuracy,
                      counted(samples_, "sample")));
  return {};
}

}  // namespace rankscope::trainer
