#include <algorithm>
#include <numeric>

#include "math/statistics.h"
#include "rankscope/analyzer/what_if/what_if.h"
#include "rankscope/core/format.h"
#include "replay/prepared.h"
#include "what_if/find.h"
#include "what_if/fix.h"

namespace rankscope::analyzer {
namespace {

using replay::Graph;

Prediction predict(const Graph& graph, const replay::FixedScenario& fixed) {
  Prediction prediction;
  for (const replay::FixEffect& effect : fixed.effects) {
    prediction.fixes.push_back(effect.text);
    prediction.changed += effect.items;
    prediction.saved_ns += effect.saved_ns;
  }
  prediction.walls_ns = step_walls(graph, simulate(graph, fixed.scenario));
  prediction.mean_ns = std::accumulate(prediction.walls_ns.begin(), prediction.walls_ns.end(), std::int64_t{0}) /
                       static_cast<std::int64_t>(prediction.walls_ns.size());
  prediction.median_ns = median(prediction.walls_ns);
  return prediction;
}

Result<WhatIfAnswer> answer(const Graph& graph, const replay::ItemPeers& peers, std::span<const replay::Fix> fixes) {
  WhatIfAnswer result;
  if (!graph.whole_recording)
    for (const replay::GraphStep& step : graph.steps) result.steps.push_back(step.index);
  result.unchanged = predict(graph, {as_measured(graph), {}});
  const std::int64_t replayed =
      std::accumulate(result.unchanged.walls_ns.begin(), result.unchanged.walls_ns.end(), std::int64_t{0});
  result.replay_error = replay::replay_error(replayed, measured_ns(graph));
  if (const std::string why = replay::why_refused(result.replay_error); !why.empty())
    return fail(ErrorKind::not_computable, why);
  RS_TRY(const replay::FixedScenario all, apply_fixes(graph, peers, fixes));
  result.together = predict(graph, all);
  for (std::size_t i = 0; fixes.size() > 1 && i < fixes.size(); ++i) {
    RS_TRY(const replay::FixedScenario one, apply_fixes(graph, peers, fixes.subspan(i, 1)));
    result.alone.push_back(predict(graph, one));
  }
  result.doubts = replay::doubts_of(graph);
  return result;
}

}  // namespace

Result<WhatIfAnswer> what_if(const Run& recorded, const ReportOptions& options, std::span<const std::string> texts) {
  std::vector<replay::Fix> fixes;
  for (const std::string& text : texts) {
    RS_TRY(replay::Fix fix, replay::parse_fix(text));
    fixes.push_back(std::move(fix));
  }
  RS_TRY(const replay::Prepared prepared, replay::prepare(recorded, options));
  const auto classes =
      replay::classes_of(prepared.aligned.run(), prepared.graph, prepared.steps.section, prepared.rows);
  return answer(prepared.graph, replay::ItemPeers(prepared.graph, classes), fixes);
}

}  // namespace rankscope::analyzer
