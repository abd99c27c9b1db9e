// One step of one pipeline: what ran on each place, in which order, and against which schedule.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/marks.h"
#include "rankscope/analyzer/pipeline/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// The actions of one step, by place. Views into a MarkedPipeline.
struct PipelineStep {
  std::int64_t index = 0;
  std::vector<std::span<const MarkedAction>> places;

  [[nodiscard]] RunTime begin() const;  ///< first forward
  [[nodiscard]] RunTime end() const;    ///< last of anything
  [[nodiscard]] std::int64_t length_ns() const { return (end() - begin()).count(); }
};

/// Why there are none.
inline constexpr const char* no_whole_step =
    "no counted step has both forward and backward passes on all stages of a pipeline";
/// The counted steps in which every place has actions; without steps all of the recording as one.
[[nodiscard]] std::vector<PipelineStep> steps_of(const MarkedPipeline& pipeline, const Section<StepsSection>& steps);

/// Time in which at least one of some actions ran.
[[nodiscard]] std::int64_t busy_ns(std::span<const MarkedAction> actions);

[[nodiscard]] PipelineShape shape_of(const MarkedPipeline& pipeline, const PipelineStep& step);

/// The first known schedule that every place followed (metrics.md 13.1).
[[nodiscard]] std::optional<PipelineSchedule> schedule_of(const PipelineStep& step, const PipelineShape& shape);
/// In words, where a place first left the schedule that it followed longest.
[[nodiscard]] std::string why_no_schedule(const PipelineStep& step, const PipelineShape& shape);

/// Length of the work of one action on one chunk, in ns.
struct ActionTimes {
  double forward = 0;
  double backward = 0;
  double input = 0;
  double weight = 0;
  [[nodiscard]] double of(PipelinePart part) const;
};

/// How long a step takes where all stages are equal and nothing is ever late: the bubble of a schedule is what it is
/// longer than the work of one rank. Equal to the closed forms of metrics.md 13 where these hold.
[[nodiscard]] double ideal_length(PipelineSchedule schedule, const PipelineShape& shape, const ActionTimes& times);

// The chain of actions that decided how long a step of a pipeline took, and who made it longer than theory.

/// Walks back from the last end: each action to what it had to wait for, the action before it on its rank or the one on
/// another stage whose result it needs. By place; the sum over all, plus `times` of each action of the chain, is the
/// length of the step.
[[nodiscard]] std::vector<AboveTheory> above_theory(const MarkedPipeline& pipeline, const PipelineStep& step,
                                                    const ActionTimes& times);

// Who of several ranks that are slow together makes the others slow.

/// The ranks of one tensor-parallel group all take as long as their slowest one. Of owners that are about equal, and on
/// one place, the one counts that spends least in common operations: for it the others wait there.
[[nodiscard]] PipelineOwner slowest_of(const Run& run, std::span<const PipelineOwner> owners);

}  // namespace rankscope::analyzer
