// Pipeline parallelism: which schedule ran, how much of it stood still, and how much had to (metrics.md 13).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"
#include "rankscope/core/pipeline_orders.h"
#include "rankscope/core/time.h"

namespace rankscope::analyzer {

/// Why a run that never was a pipeline has no such section.
inline constexpr const char* no_pipeline =
    "no pipeline: nothing is sent from rank to rank, and no forward or backward pass is marked as part of a "
    "micro-batch";

/// What of the time above theory a place causes on the chain of work that decided the length (means per step, ns).
struct AboveTheory {
  std::int64_t longer_work_ns = 0;  ///< its work took longer than the mean of the places; negative: shorter
  std::int64_t transfer_ns = 0;     ///< it was ready, and what it needed had been made and was not there yet
  std::int64_t host_ns = 0;         ///< everything was there, and it had not begun
  [[nodiscard]] std::int64_t total() const { return longer_work_ns + transfer_ns + host_ns; }
  bool operator==(const AboveTheory&) const = default;
};

/// One place of the pipeline: the same for all pipelines side by side.
struct PipelinePlace {
  std::vector<std::int32_t> stages;  ///< of the model, by chunk
  std::vector<RankId> ranks;         ///< of each pipeline one
  std::int64_t forward_ns = 0;       ///< of one micro-batch, all chunks; mean of the medians of its ranks
  std::int64_t backward_ns = 0;      ///< input and weight gradient together
  double bubble = 0;                 ///< idle share
  AboveTheory above{};
};

/// Idle share of one rank between the first forward and the last backward of its pipeline.
struct PipelineRank {
  RankId rank;
  std::int32_t place = 0;
  std::int64_t busy_ns = 0;  ///< over the counted steps
  std::int64_t span_ns = 0;  ///< P of metrics.md 13, or from its own first to last action where clocks are refused
  [[nodiscard]] double bubble() const {
    return span_ns > 0 ? 1 - static_cast<double>(busy_ns) / static_cast<double>(span_ns) : 0;
  }
};

/// The rank that causes most of what is above theory, if that is 2 % of the length of its pipeline or more.
struct PipelineOwner {
  RankId rank;
  std::int32_t place = 0;
  AboveTheory above{};
};

/// A box of the picture of a pipeline.
struct DrawnAction {
  PipelineAction action;
  std::int32_t place = 0;
  std::int64_t begin_ns = 0;  ///< after the first forward
  std::int64_t end_ns = 0;
};

/// One step of one pipeline: the one that is farthest above theory, its median step.
struct DrawnPipeline {
  std::int64_t step = 0;
  std::int64_t length_ns = 0;
  std::vector<RankId> ranks;         ///< by place
  std::vector<DrawnAction> actions;  ///< by place and begin
};

/// P = work + bubble + imbalance + excess, exactly; means per step and pipeline (metrics.md 13.4).
struct PipelineParts {
  std::int64_t length_ns = 0;
  std::int64_t work_ns = 0;       ///< m(F + B)
  std::int64_t bubble_ns = 0;     ///< what the schedule must leave idle
  std::int64_t imbalance_ns = 0;  ///< uneven stages
  std::string why_no_imbalance;   ///< set: it is part of the excess
  std::int64_t excess_ns = 0;     ///< transfers, slow ranks, hosts; may be negative
};

/// How long the stages of pipelines are idle, and how much of it the schedule makes unavoidable.
struct PipelineSection {
  std::optional<PipelineSchedule> schedule;
  std::string why_unknown;  ///< set where the schedule is not known
  std::string note;         ///< steps that ran otherwise
  PipelineShape shape;
  std::int64_t pipelines = 0;  ///< side by side: data and tensor parallel
  std::int64_t steps = 0;      ///< counted; 0: the whole recording is one
  std::int64_t forward_ns = 0;
  std::int64_t backward_ns = 0;
  std::int64_t input_ns = 0;  ///< of backward_ns, where input and weight gradient are apart
  std::int64_t weight_ns = 0;
  Ratio bubble_measured;
  Ratio bubble_theory;
  std::optional<PipelineParts> parts;
  std::string why_no_parts;
  std::vector<PipelinePlace> places;  ///< first stage first
  std::vector<PipelineRank> ranks;    ///< by rank
  std::optional<PipelineOwner> owner{};
  bool clocks_refused = false;  ///< those of its ranks cannot be compared: idle time between them cannot be drawn
  std::optional<DrawnPipeline> drawn;
  std::string why_not_drawn;

  /// Measured minus theory, as a share; nothing where one of them is not known.
  [[nodiscard]] std::optional<double> above_theory() const {
    if (!bubble_measured.value || !bubble_theory.value) return std::nullopt;
    return *bubble_measured.value - *bubble_theory.value;
  }
};

}  // namespace rankscope::analyzer
