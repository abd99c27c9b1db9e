#include "steps/leftovers.h"

#include <algorithm>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

// Where more of what follows on a stream lacks its launch, launches are not recorded reliably; fewer show nothing.
constexpr std::int64_t one_of_so_many = 20;

/// RunTime::min() where the stream has none.
RunTime end_of_leftovers(const Run& run, const Lane& stream) {
  RunTime end = RunTime::min();
  std::int64_t before = 0;  // the first that was launched
  std::int64_t launched = 0;
  std::int64_t not_launched = 0;  // behind that first one
  for (const Span& span : run.spans_of(stream)) {
    if (span.kind == SpanKind::sync) continue;  // a record of waiting is no work
    const bool has_launch = !run.links_to(LinkKind::launch, run.id_of(span)).empty();
    if (has_launch)
      ++launched;
    else if (launched > 0)
      ++not_launched;
    else
      ++before, end = std::max(end, span.time.end);
  }
  const bool reliable = launched >= one_of_so_many && before <= launched && not_launched * one_of_so_many <= launched;
  return reliable ? end : RunTime::min();
}

}  // namespace

std::vector<RunTime> ends_of_leftovers(const Run& run) {
  std::vector<RunTime> ends(run.processes().size(), RunTime::min());
  for (const Lane& lane : run.lanes())
    if (lane.kind == LaneKind::stream) ends[lane.process] = std::max(ends[lane.process], end_of_leftovers(run, lane));
  return ends;
}

}  // namespace rankscope::analyzer
