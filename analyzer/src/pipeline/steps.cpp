#include "pipeline/steps.h"

#include <algorithm>
#include <set>

#include "math/interval_set.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using Actions = std::span<const MarkedAction>;

bool begins_before(const MarkedAction& marked, RunTime time) { return marked.time.begin < time; }

Actions within(Actions actions, const TimeRange& window) {
  const auto from = [&](RunTime time) {
    return std::partition_point(actions.begin(), actions.end(),
                                [&](const MarkedAction& marked) { return begins_before(marked, time); });
  };
  return {from(window.begin), from(window.end)};
}

/// The windows of a step for every place, or nothing where one lacks it.
std::optional<PipelineStep> step_of(const MarkedPipeline& pipeline, const StepsSection& steps, std::int64_t index) {
  PipelineStep step{index, {}};
  for (const RankActions& own : pipeline.places) {
    const auto windows = windows_of(steps, own.rank);
    const auto window = std::ranges::lower_bound(windows, index, {}, &StepWindow::index);
    if (window == windows.end() || window->index != index) return std::nullopt;
    step.places.push_back(within(own.actions, window->window));
    if (step.places.back().empty()) return std::nullopt;
  }
  return step;
}

std::size_t same_from_the_start(Actions ran, std::span<const PipelineAction> order) {
  std::size_t same = 0;
  while (same < ran.size() && same < order.size() && ran[same].action == order[same]) ++same;
  return same;
}

bool followed(Actions ran, std::span<const PipelineAction> order) {
  return ran.size() == order.size() && same_from_the_start(ran, order) == order.size();
}

/// How many actions a rank has under a schedule, without making its order: numbers of damaged marks may be huge.
std::int64_t actions_of(PipelineSchedule schedule, const PipelineShape& shape) {
  const bool split = schedule == PipelineSchedule::zb_h1 || schedule == PipelineSchedule::zb_interleaved ||
                     schedule == PipelineSchedule::zb_v;
  return std::int64_t{split ? 3 : 2} * shape.chunks * shape.micro_batches;
}

bool has_the_size(const PipelineStep& step, std::int64_t actions) {
  return std::ranges::all_of(step.places, [actions](Actions ran) { return std::ssize(ran) == actions; });
}

std::string text_of(const PipelineAction& action, std::int32_t chunks) {
  return chunks > 1 ? format("{}{} of chunk {}", letter_of(action.part), action.micro_batch, action.chunk)
                    : format("{}{}", letter_of(action.part), action.micro_batch);
}

}  // namespace

RunTime PipelineStep::begin() const {
  RunTime first = RunTime::max();
  for (const Actions& actions : places) first = std::min(first, actions.front().time.begin);
  return first;
}

RunTime PipelineStep::end() const {
  RunTime last = RunTime::min();
  for (const Actions& actions : places)
    for (const MarkedAction& marked : actions) last = std::max(last, marked.time.end);
  return last;
}

std::vector<PipelineStep> steps_of(const MarkedPipeline& pipeline, const Section<StepsSection>& steps) {
  std::vector<PipelineStep> found;
  if (!steps) {
    PipelineStep all;
    for (const RankActions& own : pipeline.places) all.places.emplace_back(own.actions);
    found.push_back(std::move(all));
    return found;
  }
  for (const std::int64_t index : counted_steps(*steps))
    if (auto step = step_of(pipeline, *steps, index)) found.push_back(std::move(*step));
  return found;
}

std::int64_t busy_ns(Actions actions) {
  std::vector<TimeRange> ranges;
  for (const MarkedAction& marked : actions) ranges.push_back(marked.time);
  return IntervalSet::from(std::move(ranges)).length_ns();
}

PipelineShape shape_of(const MarkedPipeline& pipeline, const PipelineStep& step) {
  std::set<std::int32_t> micro_batches;
  for (const Actions& actions : step.places)
    for (const MarkedAction& marked : actions) micro_batches.insert(marked.action.micro_batch);
  return {static_cast<std::int32_t>(step.places.size()), static_cast<std::int32_t>(micro_batches.size()),
          pipeline.chunks};
}

std::optional<PipelineSchedule> schedule_of(const PipelineStep& step, const PipelineShape& shape) {
  for (const PipelineSchedule schedule : all_pipeline_schedules) {
    if (!fits(schedule, shape) || !has_the_size(step, actions_of(schedule, shape))) continue;
    bool all = true;
    for (std::int32_t place = 0; all && place < shape.ranks; ++place)
      all = followed(step.places[static_cast<std::size_t>(place)], pipeline_order(schedule, shape, place));
    if (all) return schedule;
  }
  return std::nullopt;
}

std::string why_no_schedule(const PipelineStep& step, const PipelineShape& shape) {
  std::string why = "no known schedule fits the numbers of ranks, micro-batches and chunks";
  std::size_t longest = 0;
  for (const PipelineSchedule schedule : all_pipeline_schedules) {
    if (!fits(schedule, shape)) continue;
    for (std::int32_t place = 0; place < shape.ranks; ++place) {
      const Actions ran = step.places[static_cast<std::size_t>(place)];
      // Of a schedule with more than twice as many actions the place has not done a half: that explains nothing.
      if (actions_of(schedule, shape) > 2 * std::ssize(ran)) break;
      const auto order = pipeline_order(schedule, shape, place);
      const std::size_t same = same_from_the_start(ran, order);
      if (followed(ran, order)) continue;
      if (same < longest || (same == longest && longest > 0)) break;
      longest = same;
      why = format("position {} departs from {} with action {}, which is {} instead of {}", place, name_of(schedule),
                   same + 1, same < ran.size() ? text_of(ran[same].action, shape.chunks) : "nothing",
                   same < order.size() ? text_of(order[same], shape.chunks) : "nothing");
      break;
    }
  }
  return why;
}

double ActionTimes::of(PipelinePart part) const {
  switch (part) {
    case PipelinePart::forward:
      return forward;
    case PipelinePart::backward:
      return backward;
    case PipelinePart::backward_input:
      return input;
    case PipelinePart::backward_weight:
      return weight;
  }
  return 0;
}

namespace {

/// Runs the orders of a schedule by dependence alone.
class IdealRun {
 public:
  IdealRun(PipelineSchedule schedule, const PipelineShape& shape, const ActionTimes& times)
      : schedule_(schedule), shape_(shape), times_(times), free_at_(static_cast<std::size_t>(shape.ranks)) {
    const auto cells = static_cast<std::size_t>(stages()) * static_cast<std::size_t>(shape.micro_batches);
    forward_end_.assign(cells, -1);
    backward_end_.assign(cells, -1);
    for (std::int32_t rank = 0; rank < shape.ranks; ++rank) orders_.push_back(pipeline_order(schedule, shape, rank));
  }

  double length() {
    std::vector<std::size_t> next(orders_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < orders_.size(); ++rank)
        while (next[rank] < orders_[rank].size() && run(rank, orders_[rank][next[rank]])) {
          ++next[rank];
          moved = true;
        }
    }
    return *std::ranges::max_element(free_at_);
  }

 private:
  [[nodiscard]] std::int32_t stages() const { return shape_.ranks * shape_.chunks; }
  [[nodiscard]] std::size_t cell(std::int32_t stage, std::int32_t micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  /// False while what it needs has not been made.
  bool run(std::size_t rank, const PipelineAction& action) {
    const std::int32_t stage = stage_of(schedule_, shape_, static_cast<std::int32_t>(rank), action.chunk);
    const bool is_forward = action.part == PipelinePart::forward;
    double ready = 0;
    if (is_forward && stage > 0) ready = forward_end_[cell(stage - 1, action.micro_batch)];
    if (!is_forward && action.part != PipelinePart::backward_weight && stage + 1 < stages())
      ready = backward_end_[cell(stage + 1, action.micro_batch)];
    if (ready < 0) return false;
    free_at_[rank] = std::max(free_at_[rank], ready) + times_.of(action.part);
    if (is_forward) forward_end_[cell(stage, action.micro_batch)] = free_at_[rank];
    if (!is_forward && action.part != PipelinePart::backward_weight)
      backward_end_[cell(stage, action.micro_batch)] = free_at_[rank];
    return true;
  }

  PipelineSchedule schedule_;
  PipelineShape shape_;
  ActionTimes times_;
  std::vector<double> free_at_;
  std::vector<double> forward_end_;
  std::vector<double> backward_end_;
  std::vector<std::vector<PipelineAction>> orders_;
};

}  // namespace

double ideal_length(PipelineSchedule schedule, const PipelineShape& shape, const ActionTimes& times) {
  return IdealRun{schedule, shape, times}.length();
}

}  // namespace rankscope::analyzer
