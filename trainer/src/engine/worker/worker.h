// One rank's part in the training: what a mode is. The loop (training.h) does what all modes have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/comm.h"
#include "engine/data_parallel/training_state.h"
#include "engine/step/progress.h"
#include "engine/step/step_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/data/datasets.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"
#include "rankscope/trainer/plan/pace.h"
#include "rankscope/trainer/plan/run_plan.h"

namespace rankscope::trainer {

/// What injected faults do to one step.
struct StepFaults {
  std::chrono::nanoseconds data{0};  ///< before its first samples are there
  std::chrono::nanoseconds comm{0};  ///< of one reduction or send (FaultKind::comm), between enqueued and started
  bool nan_loss = false;             ///< the loss of the first samples is not a number
};

/// What other ranks must have as well, to the last bit.
struct Replicated {
  Comm* group = nullptr;  ///< these ranks; null where nobody has the same
  std::vector<at::Tensor> tensors{};
};

/// What it says about itself, for the recording and the log.
struct WorkerDescription {
  std::int64_t parameters = 0;  ///< of the whole model
  double pace_ms = 0;           ///< nominal compute per rank and step; 0 = unpaced
  std::string batch{};          ///< how the global batch is made up: "8 per device x 2 devices x 1 micro-step"
};

class Worker {
 public:
  virtual ~Worker() = default;

  /// Also notes what only this mode has in the metadata of the recording.
  [[nodiscard]] virtual WorkerDescription describe() const = 0;

  /// The first step to come, from 0; its samples are those that would follow without a break.
  virtual void begin_at(std::int64_t step) = 0;

  /// Multiplies the nominal times of all that this rank computes from now on.
  virtual void slow_down(double factor) = 0;

  /// Loads the samples of step `index` and leaves its gradients, the mean over the global batch, where they are needed.
  [[nodiscard]] virtual Result<void> gradients(std::int64_t index, const StepFaults& faults) = 0;

  /// The gradients of the whole model, by the names and in the order of one process alone. All ranks call it; what
  /// others than rank 0 get is not specified.
  [[nodiscard]] virtual Result<std::vector<NamedTensor>> all_gradients() = 0;

  /// Runs the optimizer, with its learning rate multiplied by `rate`, and forgets the gradients.
  [[nodiscard]] virtual Result<void> update(double rate) = 0;

  /// Passes of evaluate() follow: what copies of the model have of their own, they take from the first copy, as the
  /// next step would. All ranks call it.
  [[nodiscard]] virtual Result<void> begin_evaluation() { return {}; }

  /// Between two steps: loss and correct predictions of the first `counted` of samples that nothing is learned from.
  /// All ranks call it; those without the model's end return zeros.
  [[nodiscard]] virtual Result<Totals> evaluate(const Inputs& samples, std::int64_t counted) = 0;

  /// The parameters, between two steps.
  [[nodiscard]] virtual Replicated replicated() = 0;

  /// What a checkpoint keeps, between two steps. All ranks call it.
  [[nodiscard]] virtual Result<TrainingState> state() = 0;
  /// Goes on from what state() gave after `steps` updates: `values` are those of its tensors, in its order. All ranks
  /// call it.
  [[nodiscard]] virtual Result<void> restore(const std::vector<at::Tensor>& values, std::int64_t steps) = 0;

  /// Losses that this rank has seen since the last call.
  [[nodiscard]] virtual Totals take_totals() = 0;

  /// CPU time of each of its devices, the same number of them on all ranks; none where the training thread is the
  /// device.
  [[nodiscard]] virtual std::vector<std::chrono::nanoseconds> device_times() const { return {}; }

  /// No step comes any more. The pacer then knows all overruns of this process.
  virtual const Pacer& finish() = 0;
};

/// What a worker is made from; all of it outlives the worker.
struct WorkerPlan {
  const TrainOptions& options;
  const Placement& place;
  const SampleSource& source;
  const RunPlan& plan;
  Comm* everybody;  ///< group of all ranks; null for one process alone
};

using MakeWorker = std::function<Result<std::unique_ptr<Worker>>(const WorkerPlan&)>;

}  // namespace rankscope::trainer
