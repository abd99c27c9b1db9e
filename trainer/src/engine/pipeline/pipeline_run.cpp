#include "engine/pipeline/pipeline_run.h"

#include <limits>
#include <utility>

#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;
using enum PipelinePart;

/// What an action takes over from a stage of the same rank, or hands to one.
Parcel taken_here(const StageAction& action) {
  const auto direction = action.part == forward ? PipelineDirection::forward : PipelineDirection::backward;
  return {direction, action.stage, action.micro_batch};
}
Parcel made_here(const StageAction& action) {
  Parcel parcel = taken_here(action);
  parcel.into += action.part == forward ? 1 : -1;
  return parcel;
}

}  // namespace

PipelineRun::PipelineRun(const PipelinePlan& plan, std::int32_t rank, std::map<std::int32_t, PacedStage> stages,
                         std::unique_ptr<PipelineLinks> links, Pacer& pacer, StageDone stage_done)
    : plan_(plan),
      actions_(plan.ranks[static_cast<std::size_t>(rank)]),
      stages_(std::move(stages)),
      links_(std::move(links)),
      pacer_(pacer),
      stage_done_(std::move(stage_done)) {
  for (const std::int32_t stage : plan.stages_of(rank))
    chunks_.emplace(stage, static_cast<std::int32_t>(chunks_.size()));
  needed_after_.resize(actions_.size());
  std::optional<Parcel> next;
  for (std::size_t i = actions_.size(); i > 0; --i) {
    needed_after_[i - 1] = next;
    if (const auto needed = needed_by(plan_, actions_[i - 1])) next = needed;
  }
  std::map<std::int32_t, std::size_t> last;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    const StageAction& action = actions_[i];
    last[action.stage] = i;
    if (made_by(plan_, action)) last_send_ = i;
    if (action.part == backward_input) cut_[{action.stage, action.micro_batch}] = Backward::input_only;
  }
  for (const auto& [stage, action] : last) last_of_.emplace(action, stage);
}

Result<void> PipelineRun::step(const std::vector<Inputs>& inputs, const StepFaults& faults) {
  nan_loss_ = faults.nan_loss;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    const bool delayed = i == last_send_;
    RS_TRY_VOID(act(i, inputs, delayed ? faults.comm : std::chrono::nanoseconds{0}));
    if (const auto done = last_of_.find(i); done != last_of_.end()) RS_TRY_VOID(stage_done_(done->second));
  }
  RS_CHECK(here_.empty());
  return {};
}

Result<void> PipelineRun::finish_step() { return links_ ? links_->finish_step() : Result<void>{}; }

Result<at::Tensor> PipelineRun::taken(const StageAction& action) {
  if (const auto needed = needed_by(plan_, action)) return links_->take(*needed);
  auto found = here_.extract(taken_here(action));
  return found.empty() ? at::Tensor{} : found.mapped();
}

Result<void> PipelineRun::act(std::size_t index, const std::vector<Inputs>& inputs, std::chrono::nanoseconds delay) {
  const StageAction& action = actions_[index];
  at::Tensor given;
  if (action.part != backward_weight) {
    RS_TRY(given, taken(action));
  }
  // What comes next arrives while this one computes.
  if (const auto& next = needed_after_[index]) links_->expect(*next);
  const at::Tensor made = run(action, given, inputs);
  if (!made.defined()) return {};
  if (const auto parcel = made_by(plan_, action))
    links_->give(*parcel, made, delay);
  else
    here_.emplace(made_here(action), made);
  return {};
}

at::Tensor PipelineRun::run(const StageAction& action, const at::Tensor& given, const std::vector<Inputs>& inputs) {
  annotate::Span span{action.part == PipelinePart::forward ? Kind::forward : Kind::backward, span_name_of(action.part)};
  span.with("stage", action.stage).with("micro_batch", action.micro_batch);
  if (chunks_.size() > 1) span.with("chunk", chunks_.at(action.stage));
  PacedStage& own = stages_.at(action.stage);
  at::Tensor made;
  pacer_.begin();
  switch (action.part) {
    case PipelinePart::forward:
      made = forward(action, given, inputs);
      pacer_.part_done(own.forward);
      break;
    case PipelinePart::backward:
      made = own.stage.backward(action.micro_batch, given);
      pacer_.part_done(own.backward);
      break;
    case PipelinePart::backward_input:
      made = own.stage.backward(action.micro_batch, given);
      pacer_.part_done(own.backward / 2);
      break;
    case PipelinePart::backward_weight:
      own.stage.weight_gradients(action.micro_batch);
      pacer_.part_done(own.backward / 2);
      break;
  }
  return made;
}

at::Tensor PipelineRun::forward(const StageAction& action, const at::Tensor& input, const std::vector<Inputs>& inputs) {
  Stage& stage = stages_.at(action.stage).stage;
  const auto cut = cut_.find({action.stage, action.micro_batch});
  const Backward kind = cut == cut_.end() ? Backward::whole : cut->second;
  const auto micro_batch = static_cast<std::size_t>(action.micro_batch);
  const at::Tensor& data = action.stage == 0 ? inputs.at(micro_batch).data : input;
  if (!is_last(action.stage)) return stage.forward(action.micro_batch, data, kind);
  const Inputs with_labels{data, inputs.at(micro_batch).labels};
  const double factor = std::exchange(nan_loss_, false) ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  const Forward result = stage.forward_to_loss(action.micro_batch, with_labels, kind, factor);
  totals_.add(result, with_labels.labels);
  return {};
}

}  // namespace rankscope::trainer
