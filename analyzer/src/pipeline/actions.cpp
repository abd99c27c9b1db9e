#include "rankscope/analyzer/pipeline/actions.h"

#include <numeric>

#include "pipeline/marks.h"
#include "pipeline/steps.h"

namespace rankscope::analyzer {
namespace {

StepOfPipeline placed(const PipelineStep& step) {
  StepOfPipeline result{step.index, {step.begin(), step.end()}, {}, {}};
  for (std::size_t place = 0; place < step.places.size(); ++place) {
    for (const MarkedAction& marked : step.places[place])
      result.actions.push_back({marked.action, static_cast<std::int32_t>(place), marked.stage, marked.time});
    result.busy_ns.push_back(busy_ns(step.places[place]));
  }
  return result;
}

double idle_share(std::int64_t busy, double whole) { return whole > 0 ? 1 - static_cast<double>(busy) / whole : 0; }

}  // namespace

double StepOfPipeline::bubble(std::size_t place) const {
  return idle_share(busy_ns[place], static_cast<double>(time.length().count()));
}

double StepOfPipeline::bubble() const {
  const double whole = static_cast<double>(time.length().count()) * static_cast<double>(busy_ns.size());
  return idle_share(std::accumulate(busy_ns.begin(), busy_ns.end(), std::int64_t{0}), whole);
}

Section<std::vector<ActionsOfPipeline>> pipeline_actions(const Run& run, const Section<StepsSection>& steps) {
  auto ranks = marked_actions(run);
  if (!ranks) return tl::make_unexpected(ranks.error());
  const auto pipelines = pipelines_of(run, *std::move(ranks));
  if (!pipelines) return tl::make_unexpected(pipelines.error());
  std::vector<ActionsOfPipeline> all;
  for (const MarkedPipeline& pipeline : *pipelines) {
    ActionsOfPipeline one;
    for (const RankActions& own : pipeline.places) one.ranks.push_back(own.rank);
    for (const PipelineStep& step : steps_of(pipeline, steps)) one.steps.push_back(placed(step));
    if (!one.steps.empty()) all.push_back(std::move(one));
  }
  if (all.empty()) return unavailable(no_whole_step);
  return all;
}

}  // namespace rankscope::analyzer
