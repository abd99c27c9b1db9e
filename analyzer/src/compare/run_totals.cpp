// What a comparison needs of one run.
#include <algorithm>
#include <utility>

#include "compare/key_series.h"
#include "split/peers.h"
#include "steps/asked_for.h"

namespace rankscope::analyzer {
namespace {

std::vector<PeerRanks> peers_of(const Run& run, const Report& report) {
  std::vector<PeerRanks> classes;
  if (!report.steps || !report.rank_rows) return classes;
  for (const PeerClass& peers : peer_classes(run, *report.steps, *report.rank_rows)) {
    classes.push_back({peers.name, {}});
    for (const RankRow* row : peers.rows) classes.back().ranks.push_back(row->rank);
  }
  return classes;
}

}  // namespace

RunDigest digest(const Run& recorded, const ReportOptions& options, RunName name) {
  RunDigest result{std::move(name), analyze(recorded, options), {}, options.steps, {}, {}, {}};
  const std::shared_ptr<const Run> moved = std::exchange(result.report.in_run_time, nullptr);
  const Run& run = moved ? *moved : recorded;
  for (const RankId rank : run.ranks())
    if (is_asked_for(options, rank)) result.ranks.push_back(rank);
  if (result.report.steps)
    for (const Step& step : result.report.steps->steps)
      if (result.report.steps->counted(step.index)) result.step_walls_ns.push_back(step.wall_ns);
  result.keys = key_series(run, result.report, options);
  result.peers = peers_of(run, result.report);
  if (result.report.collectives) result.report.collectives->operations = {};  // there are many, and they are summed
  return result;
}

}  // namespace rankscope::analyzer
