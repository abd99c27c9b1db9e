// Runs what a pipeline's plan says of one rank, action by action.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/pipeline/pipeline_links.h"
#include "engine/pipeline/stage.h"
#include "engine/step/progress.h"
#include "engine/worker/worker.h"
#include "rankscope/trainer/plan/pace.h"

namespace rankscope::trainer {

/// One stage of this rank, and the nominal times of one micro-batch on it (0 = unpaced).
struct PacedStage {
  Stage stage;
  std::chrono::nanoseconds forward{0};
  std::chrono::nanoseconds backward{0};  ///< half of it each where input and weight gradients are apart
};

class PipelineRun {
 public:
  using StageDone = std::function<Result<void>(std::int32_t stage)>;

  /// `rank` is that in the pipeline; `stages` by their number; `links` is null where no other rank takes part. When the
  /// last gradient of a stage in a step has been added up, `stage_done` is called.
  PipelineRun(const PipelinePlan& plan, std::int32_t rank, std::map<std::int32_t, PacedStage> stages,
              std::unique_ptr<PipelineLinks> links, Pacer& pacer, StageDone stage_done);

  [[nodiscard]] std::map<std::int32_t, PacedStage>& stages() { return stages_; }

  /// All actions of one step. `inputs` are the micro-batches, empty on ranks without first and last stage. The fault of
  /// communication holds up the last send of the step, a loss that is not a number is that of the first micro-batch.
  [[nodiscard]] Result<void> step(const std::vector<Inputs>& inputs, const StepFaults& faults);
  /// Waits until the neighbours have taken over everything.
  [[nodiscard]] Result<void> finish_step();
  /// Losses of the last stage since the last call of the second one.
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] Totals take_totals() { return std::exchange(totals_, {}); }

 private:
  [[nodiscard]] Result<void> act(std::size_t index, const std::vector<Inputs>& inputs, std::chrono::nanoseconds delay);
  [[nodiscard]] Result<at::Tensor> taken(const StageAction& action);
  at::Tensor run(const StageAction& action, const at::Tensor& given, const std::vector<Inputs>& inputs);
  at::Tensor forward(const StageAction& action, const at::Tensor& input, const std::vector<Inputs>& inputs);
  [[nodiscard]] bool is_last(std::int32_t stage) const { return stage + 1 == plan_.stages(); }

  const PipelinePlan& plan_;
  const std::vector<StageAction>& actions_;
  std::map<std::int32_t, PacedStage> stages_;
  std::map<std::int32_t, std::int32_t> chunks_;                    // stage -> chunk of this rank
  std::vector<std::optional<Parcel>> needed_after_;                // by action: the next parcel that a later one needs
  std::map<std::pair<std::int32_t, std::int32_t>, Backward> cut_;  // (stage, micro-batch) -> how its backward runs
  std::size_t last_send_ = 0;                                      // action behind which nothing is sent
  std::map<std::size_t, std::int32_t> last_of_;                    // action -> the stage that has no other behind it
  std::map<Parcel, at::Tensor> here_;                              // handed from one stage of this rank to another
  std::unique_ptr<PipelineLinks> links_;
  Pacer& pacer_;
  StageDone stage_done_;
  Totals totals_;
  bool nan_loss_ = false;  // of the next one
};

}  // namespace rankscope::trainer
