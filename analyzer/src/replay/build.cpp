#include "replay/build.h"

#include <algorithm>

#include "rankscope/core/model/run.h"
#include "replay/draft.h"
#include "replay/rank_graph.h"
#include "split/host_timeline.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer::replay {
namespace {

/// The longest row of counted steps without a hole.
std::vector<Step> consecutive_steps(const StepsSection& section) {
  std::vector<Step> best;
  std::vector<Step> row;
  for (const Step& step : section.steps) {
    const bool counted = step.complete && !step.warm_up;
    if (!counted || (!row.empty() && row.back().index + 1 != step.index)) row.clear();
    if (counted) row.push_back(step);
    if (row.size() > best.size()) best = row;
  }
  return best;
}

MarkSource source_of(const StepsSection& section) {
  return section.source == name_of(MarkSource::step_spans) ? MarkSource::step_spans : MarkSource::named_ranges;
}

/// Nothing where the rank lacks one of the steps.
std::optional<RankSteps> steps_of(const Run& run, RankId rank, const StepsSection& section,
                                  std::span<const Step> steps) {
  const std::vector<StepMark> marks = step_marks(run, rank, source_of(section));
  const std::span<const StepWindow> windows = windows_of(section, rank);
  RankSteps result;
  auto mark = std::ranges::lower_bound(marks, steps.front().index, {}, &StepMark::index);
  auto window = std::ranges::lower_bound(windows, steps.front().index, {}, &StepWindow::index);
  for (const Step& step : steps) {
    if (mark == marks.end() || window == windows.end() || mark->index != step.index || window->index != step.index)
      return std::nullopt;
    result.marks.push_back(mark++->time.begin);
    result.boundaries.push_back(window++->window.begin);
  }
  const bool followed = mark != marks.end() && mark->index == steps.back().index + 1;
  result.marks.push_back(followed ? mark->time.begin : std::prev(mark)->time.end);
  result.boundaries.push_back(std::prev(window)->window.end);
  result.thread = marks.front().lane;
  return result;
}

/// Without steps all that was recorded is one.
RankSteps whole_recording(const Run& run) {
  const TimeRange all = run.extent();
  return {{all.begin, all.end}, {all.begin, all.end}, {}};
}

struct Plan {
  std::vector<GraphStep> steps;
  std::vector<RankId> ranks;
  std::vector<RankSteps> rank_steps;  // parallel to ranks
};

Section<Plan> plan_of(const Run& run, const Section<StepsSection>& steps, const ClockTrust& clocks) {
  Plan plan;
  if (!clocks.comparable(run.ranks())) return unavailable("the clocks of the ranks cannot be compared");
  if (!steps) {
    plan.steps.push_back({0, run.extent().length().count()});
    plan.ranks.assign(run.ranks().begin(), run.ranks().end());
    plan.rank_steps.assign(plan.ranks.size(), whole_recording(run));
    return plan;
  }
  const std::vector<Step> row = consecutive_steps(*steps);
  if (row.empty()) return unavailable("no step was recorded completely");
  for (const Step& step : row) plan.steps.push_back({step.index, step.wall_ns});
  for (const RankId rank : run.ranks()) {
    std::optional<RankSteps> own = steps_of(run, rank, *steps, row);
    if (!own) continue;
    plan.ranks.push_back(rank);
    plan.rank_steps.push_back(std::move(*own));
  }
  if (plan.ranks.empty()) return unavailable("no rank was recorded in all of the steps to be replayed");
  return plan;
}

/// What passed between the end of the last cause and the start (metrics.md 12.2).
void add_delays(Draft& draft, std::span<const RankSteps> steps) {
  std::vector<RunTime> ready(draft.node_count(), RunTime::min());
  for (const DraftEdge& edge : draft.edges()) ready[edge.to] = std::max(ready[edge.to], draft.node(edge.from).end);
  for (std::uint32_t row = 0; row < ready.size(); ++row) {
    Node& node = draft.node(row);
    const bool is_held = node.pieces == 0 && node.floor == node.end;  // before the first step
    const bool delayed =
        (node.kind == NodeKind::activity && !is_held) || node.kind == NodeKind::arrive || node.kind == NodeKind::resume;
    if (!delayed || ready[row] == RunTime::min()) continue;
    // Also where nothing passed: a peer that was delayed is compared with it.
    const std::int64_t ns = std::max<std::int64_t>(0, (node.start - ready[row]).count());
    node.delay_item =
        draft.add_item({node.rank, interval_at(steps[node.rank].boundaries, node.start), Work::delay, node.span, ns});
  }
}

}  // namespace

Section<Graph> build_graph(const Run& run, const Section<StepsSection>& steps, const Matching& matching,
                           const ClockTrust& clocks) {
  Section<Plan> plan = plan_of(run, steps, clocks);
  if (!plan) return tl::make_unexpected(plan.error());
  Draft draft{run};
  Graph& graph = draft.graph();
  graph.steps = std::move(plan->steps);
  graph.ranks = std::move(plan->ranks);
  graph.whole_recording = !steps;
  graph.boundaries.assign((graph.steps.size() + 1) * graph.ranks.size(), no_row);
  for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
    graph.host_ends.push_back(end_of_host(run, graph.ranks[rank]));
    graph.doubts.has_streams = graph.doubts.has_streams || run.has_accelerator(graph.ranks[rank]);
    add_rank(draft, matching, rank, plan->rank_steps[rank]);
  }
  add_meetings(draft, matching);
  add_delays(draft, plan->rank_steps);
  Result<Graph> sorted = std::move(draft).finish();
  if (!sorted) return unavailable(sorted.error().message);
  return std::move(*sorted);
}

}  // namespace rankscope::analyzer::replay
