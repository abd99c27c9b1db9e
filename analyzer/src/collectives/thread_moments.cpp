#include "collectives/thread_moments.h"

#include <algorithm>

#include "collectives/comm_ops.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// Another thread ends collectives that run in the background, but nobody else ends a send or receive.
bool ends_on_its_thread(const Run& run, const Span& span) {
  if (span.kind != SpanKind::comm) return true;
  return span.collective != Span::no_collective && is_point_to_point(run.text(run.collectives()[span.collective].op));
}

}  // namespace

ThreadMoments::ThreadMoments(const Run& run, const Lane& lane) {
  for (const Span& span : run.spans_of(lane)) {
    moments_.push_back(span.time.begin);
    if (ends_on_its_thread(run, span)) moments_.push_back(span.time.end);
  }
  std::ranges::sort(moments_);
}

RunTime ThreadMoments::free_until(const TimeRange& call) const {
  const auto end = std::ranges::lower_bound(moments_, call.end);
  return end == moments_.begin() ? call.begin : std::max(call.begin, *(end - 1));
}

bool is_program_thread(const Run& run, const Lane& lane) {
  return lane.kind == LaneKind::thread &&
         std::ranges::any_of(run.spans_of(lane), [](const Span& span) { return span.kind != SpanKind::comm; });
}

}  // namespace rankscope::analyzer
