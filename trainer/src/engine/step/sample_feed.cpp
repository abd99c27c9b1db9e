#include "engine/step/sample_feed.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "engine/step/devices.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

/// What ranks have unequally much of.
void note_tokens(const Batch& batch) {
  const auto tokens = std::accumulate(batch.lengths.begin(), batch.lengths.end(), std::int64_t{0});
  annotate::counter("batch_tokens", static_cast<double>(tokens));
  annotate::counter("batch_padding", static_cast<double>(batch.size * std::ranges::max(batch.lengths) - tokens));
}

}  // namespace

Result<std::unique_ptr<SampleSource>> open_samples(const TrainOptions& options) {
  if (!options.data.folder.empty()) return load_dataset(options.data, DataPart::training);
  return synthetic_samples(fitting_shape(options.model), options.data.samples, options.seed, DataPart::training,
                           options.data.lengths);
}

Result<std::unique_ptr<SampleSource>> open_validation_samples(const TrainOptions& options) {
  if (!options.data.folder.empty()) return load_dataset(options.data, DataPart::test);
  return synthetic_samples(fitting_shape(options.model), options.data.samples, options.seed, DataPart::test,
                           options.data.lengths);
}

Inputs SampleFeed::next(std::chrono::nanoseconds delay) {
  annotate::Span span{annotate::Kind::data, "data"};
  if (!loader_) loader_.emplace(source_, plan_, workers_, taken_);
  const Batch batch = loader_->next();
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  if (source_.shape().is_ragged) note_tokens(batch);
  return on_device(device_, inputs_of(batch, source_.shape(), dtype_));
}

Inputs first_samples(const SampleSource& source, std::int64_t count, DataType dtype) {
  Batch batch;
  for (std::int64_t i = 0; i < count; ++i) source.append(i, batch);
  std::ranges::fill(batch.lengths, source.shape().sequence);
  return inputs_of(batch, source.shape(), dtype);
}

}  // namespace rankscope::trainer
