// What a run says about itself: a description at the beginning, a line every few steps, an end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/comm.h"
#include "engine/step_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/datasets.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/pace.h"
#include "rankscope/trainer/placement.h"
#include "rankscope/trainer/run_plan.h"

namespace rankscope::trainer {

/// Sums over samples (or tokens), which can be added over steps and ranks.
struct Totals {
  double loss = 0;
  double correct = 0;
  double count = 0;

  void add(const Forward& result, const at::Tensor& labels);
};
/// Sums over the ranks of `comm` too; those of this process alone where it is null.
[[nodiscard]] Result<Totals> totals_of_all(Comm* comm, const Totals& mine);

/// The samples that the options name.
[[nodiscard]] Result<std::unique_ptr<SampleSource>> open_samples(const TrainOptions& options);

/// Metadata of the recording.
void note(const char* key, const std::string& value);

/// What a run is, for the recording and the log.
struct RunDescription {
  const TrainOptions& options;
  const Placement& place;
  const RunPlan& plan;
  const SampleSource& source;
  std::int64_t parameters = 0;  ///< of the whole model
  double pace_ms = 0;           ///< nominal compute per rank and step; 0 = unpaced
  std::string batch{};          ///< how the global batch is made up: "8 per device x 2 devices x 1 micro-step"
};
void describe(const RunDescription& run);

class Progress {
 public:
  /// Step 0 begins now.
  void begin();
  /// One line: steps per second since the last one, and the means of `totals`.
  void report(std::int64_t index, const Totals& totals, std::int64_t global_batch);
  /// The last line.
  void end(std::int64_t steps, const Pacer& pacer) const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_;
  Clock::time_point reported_;
  std::int64_t steps_reported_ = 0;
};

}  // namespace rankscope::trainer
