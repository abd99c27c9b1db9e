#include "rankscope/analyzer/critical_path/path_track.h"

#include "critical_path/path_walk.h"
#include "rankscope/analyzer/critical_path/section.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "replay/prepared.h"

namespace rankscope::analyzer {
namespace {

bool continues(const PathStretch& before, const PathStretch& stretch) {
  return before.rank == stretch.rank && before.lane == stretch.lane && before.kind == stretch.kind &&
         before.name == stretch.name;
}

std::vector<PathStretch> whole_path(const replay::Graph& graph) {
  std::vector<PathStretch> all;
  for (std::size_t step = 0; step < graph.steps.size(); ++step)
    for (const PathStretch& stretch : replay::walk_path(graph, step).stretches) {
      if (!all.empty() && continues(all.back(), stretch))
        all.back().time.end = stretch.time.end;
      else
        all.push_back(stretch);
    }
  return all;
}

TrackSpan span_of(const Run& run, const PathStretch& stretch) {
  TrackSpan span{std::string{name_of(stretch.kind)}, stretch.time, {}};
  if (stretch.name.is_set()) span.name = run.text(stretch.name);
  if (stretch.rank.is_set()) span.attributes.emplace_back("rank", std::to_string(stretch.rank.value));
  span.attributes.emplace_back("class", name_of(stretch.kind));
  if (stretch.lane.is_set()) span.attributes.emplace_back("lane", run.text(run.lane(stretch.lane).name));
  return span;
}

}  // namespace

Result<std::shared_ptr<const Run>> with_critical_path(const Run& recorded) {
  RS_TRY(const replay::Prepared prepared, replay::prepare(recorded, {}));
  const Run& run = prepared.aligned.run();
  NewTrack track{"critical path", "critical path", {}};
  for (const PathStretch& stretch : whole_path(prepared.graph)) track.spans.push_back(span_of(run, stretch));
  return RunBuilder::with_track(run, track);
}

}  // namespace rankscope::analyzer
