#include "exports/kineto_rows.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace rankscope::analyzer {

bool is_kineto_trace(const Run& run) { return run.info().source == "kineto"; }

std::vector<KinetoRow> kineto_rows(const Run& run, std::uint32_t process) {
  std::vector<KinetoRow> rows(run.lanes().size());
  const bool is_trace = is_kineto_trace(run);  // in other runs these names are a user's
  std::set<std::pair<std::int64_t, std::int64_t>> used;
  std::set<std::tuple<LaneKind, std::int64_t, std::int64_t>> used_on_device;
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process) continue;
    KinetoRow& row = rows[run.id_of(lane).index()];
    row.tid = lane.number;
    if (lane.kind == LaneKind::stream || lane.kind == LaneKind::annotation) {
      row.pid = std::max(lane.device, 0);
      while (!used_on_device.emplace(lane.kind, row.pid, row.tid).second) ++row.tid;
      continue;
    }
    row.of_profiler = is_trace && run.text(lane.name) == "profiler";
    row.overhead = is_trace && run.text(lane.name) == "profiler overhead";
    row.pid = row.overhead ? -1 : run.processes()[process].pid;
    while (!row.overhead && !used.insert({row.pid, row.tid}).second) ++row.pid;
  }
  return rows;
}

}  // namespace rankscope::analyzer
