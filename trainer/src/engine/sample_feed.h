// Samples as tensors.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/step_parts.h"
#include "rankscope/trainer/loader.h"

namespace rankscope::trainer {

/// The samples that the options name.
[[nodiscard]] Result<std::unique_ptr<SampleSource>> open_samples(const TrainOptions& options);

class SampleFeed {
 public:
  SampleFeed(const SampleSource& source, const BatchPlan& plan, const TrainOptions& options)
      : source_(source), dtype_(options.dtype), loader_(source, plan, options.data.workers) {}

  /// The next batch, `delay` late, within a span of kind data.
  [[nodiscard]] Inputs next(std::chrono::nanoseconds delay);

 private:
  const SampleSource& source_;
  DataType dtype_;
  Loader loader_;
};

/// The first samples there are, for measuring and for the shapes of what flows.
[[nodiscard]] Inputs first_samples(const SampleSource& source, std::int64_t count, DataType dtype);

}  // namespace rankscope::trainer
