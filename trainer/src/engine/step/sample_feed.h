// Samples as tensors.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/step/step_parts.h"
#include "rankscope/trainer/data/loader.h"

namespace rankscope::trainer {

/// The samples that the options name.
[[nodiscard]] Result<std::unique_ptr<SampleSource>> open_samples(const TrainOptions& options);

/// Samples for validation: generated ones that training does not reach, or the test part of the data set.
[[nodiscard]] Result<std::unique_ptr<SampleSource>> open_validation_samples(const TrainOptions& options);

class SampleFeed {
 public:
  SampleFeed(const SampleSource& source, const BatchPlan& plan, const TrainOptions& options, at::Device device)
      : source_(source), plan_(plan), dtype_(options.dtype), device_(device), workers_(options.data.workers) {}

  /// So many batches have been taken before; called before the first one.
  void skip(std::int64_t batches) { taken_ = batches; }

  /// The next batch, `delay` late, within a span of kind data.
  [[nodiscard]] Inputs next(std::chrono::nanoseconds delay);

 private:
  const SampleSource& source_;
  BatchPlan plan_;
  DataType dtype_;
  at::Device device_;
  int workers_;
  std::int64_t taken_ = 0;
  std::optional<Loader> loader_;  // from the first batch on
};

/// The first samples there are, on the CPU, as long as samples can be, for measuring and for the shapes of what flows.
[[nodiscard]] Inputs first_samples(const SampleSource& source, std::int64_t count, DataType dtype);

}  // namespace rankscope::trainer
