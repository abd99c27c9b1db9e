// What a run says while it goes on: a line every few steps, an end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/comm/comm.h"
#include "engine/step/step_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/plan/pace.h"

namespace rankscope::trainer {

/// Sums over samples (or tokens), which can be added over steps and ranks.
struct Totals {
  double loss = 0;
  double correct = 0;
  double count = 0;

  void add(const Forward& result, const at::Tensor& labels);
  void add(const Totals& more);
};
/// Of the first `counted` samples; a batch may be filled up with others.
[[nodiscard]] Totals totals_of_first(const Model& model, const at::Tensor& logits, const Inputs& samples,
                                     std::int64_t counted);
/// An error where the loss of samples that were just added is not a number; nothing has been learned from them.
[[nodiscard]] Result<void> check_finite(const Totals& totals, std::int64_t step, int rank);
/// Sums over the ranks of `comm` too; those of this process alone where it is null.
[[nodiscard]] Result<Totals> totals_of_all(Comm* comm, const Totals& mine, const std::string& label);

class Progress {
 public:
  /// This step begins now, from 0.
  void begin(std::int64_t step);
  /// Time in which no step ran.
  void leave_out(std::chrono::nanoseconds time);
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
