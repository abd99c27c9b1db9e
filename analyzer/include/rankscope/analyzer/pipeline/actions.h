// Every step of every pipeline, action by action, for charts. What it means is in the pipeline section of the report.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/pipeline_orders.h"

namespace rankscope::analyzer {

/// What one rank did with one micro-batch.
struct PlacedAction {
  PipelineAction action;
  std::int32_t place = 0;
  std::int32_t stage = -1;  ///< of the model; -1: not recorded
  TimeRange time;
  bool operator==(const PlacedAction&) const = default;
};

/// The forwards and backwards of one step on all ranks of a pipeline.
struct StepOfPipeline {
  std::int64_t step = 0;
  TimeRange time;                     ///< from the first forward to the end of the last action
  std::vector<PlacedAction> actions;  ///< by place and begin
  std::vector<std::int64_t> busy_ns;  ///< by place

  /// Idle share of one place.
  [[nodiscard]] double bubble(std::size_t place) const;
  /// Of all places together.
  [[nodiscard]] double bubble() const;
};

/// One pipeline of those that data and tensor parallelism put side by side.
struct ActionsOfPipeline {
  std::vector<RankId> ranks;          ///< by place, first stage first
  std::vector<StepOfPipeline> steps;  ///< counted ones; without steps all of the recording as step 0
};

/// Pipelines side by side, each with at least one step. `run` is in run time. Only where the report has a pipeline
/// section it is sure that the times can be true.
[[nodiscard]] Section<std::vector<ActionsOfPipeline>> pipeline_actions(const Run& run,
                                                                       const Section<StepsSection>& steps);

}  // namespace rankscope::analyzer
