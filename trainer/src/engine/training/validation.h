// Loss and accuracy over samples that are not trained on.
#pragma once

#include <memory>

#include "engine/worker/worker.h"

namespace rankscope::trainer {

class Validation {
 public:
  /// Null where the options ask for none. The samples are those behind the ones trained on where they are generated,
  /// else the test part of the data set.
  [[nodiscard]] static Result<std::unique_ptr<Validation>> plan(const WorkerPlan& plan);

  /// A pass over all samples where one is due after so many steps; all ranks call it. The means are those over the
  /// samples of all ranks, however they are shared.
  [[nodiscard]] Result<void> after_step(std::int64_t done, Worker& worker);

 private:
  Validation(const WorkerPlan& plan, std::unique_ptr<SampleSource> source, std::int64_t samples);

  struct Part {
    Inputs inputs;
    std::int64_t counted = 0;  ///< of the first samples; the others only fill the batch
  };
  [[nodiscard]] std::int64_t parts() const;
  [[nodiscard]] Part part(std::int64_t index) const;

  const WorkerPlan& plan_;
  std::unique_ptr<SampleSource> source_;
  std::int64_t samples_;
  std::int64_t batch_;  // samples of a part
};

}  // namespace rankscope::trainer
