#include "exports/kineto/rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "exports/kineto/free_numbers.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

bool is_kineto_trace(const Run& run) { return run.info().source == "kineto"; }

std::vector<KinetoRow> kineto_rows(const Run& run, std::uint32_t process) {
  std::vector<KinetoRow> rows(run.lanes().size());
  const bool is_trace = is_kineto_trace(run);                           // in other runs these names are a user's
  std::map<std::int64_t, FreeNumbers> pids;                             // by thread
  std::map<std::pair<LaneKind, std::int64_t>, FreeNumbers> on_devices;  // by device
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process) continue;
    KinetoRow& row = rows[run.id_of(lane).index()];
    row.tid = lane.number;
    if (lane.kind == LaneKind::stream || lane.kind == LaneKind::annotation) {
      row.pid = std::max(lane.device, 0);
      row.tid = on_devices[{lane.kind, row.pid}].take(row.tid);
      continue;
    }
    row.of_profiler = is_trace && run.text(lane.name) == "profiler";
    row.overhead = is_trace && run.text(lane.name) == "profiler overhead";
    row.pid = row.overhead ? -1 : pids[row.tid].take(run.processes()[process].pid);
  }
  return rows;
}

}  // namespace rankscope::analyzer
