#include "exports/kineto_rows.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rankscope::analyzer {

std::vector<KinetoRow> kineto_rows(const Run& run, std::uint32_t process) {
  std::vector<KinetoRow> rows(run.lanes().size());
  std::set<std::pair<std::int64_t, std::int64_t>> used;
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process) continue;
    KinetoRow& row = rows[run.id_of(lane).index()];
    row.tid = lane.number;
    if (lane.kind == LaneKind::stream || lane.kind == LaneKind::annotation) {
      row.pid = std::max(lane.device, 0);
      continue;
    }
    row.of_profiler = run.text(lane.name) == "profiler";
    row.overhead = run.text(lane.name) == "profiler overhead";
    row.pid = row.overhead ? -1 : run.processes()[process].pid;
    while (!row.overhead && !used.insert({row.pid, row.tid}).second) ++row.pid;
  }
  return rows;
}

}  // namespace rankscope::analyzer
