#include "replay/thread_stretches.h"

#include <algorithm>

#include "split/host_timeline.h"

namespace rankscope::analyzer::replay {
namespace {

enum class Part : std::uint8_t { nothing, annotation, call, computes, copies, loads };

Part part_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::user:
      return Part::annotation;
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::op:
    case SpanKind::compute:
      return Part::computes;
    case SpanKind::memory:
      return Part::copies;
    case SpanKind::data:
      return Part::loads;
    case SpanKind::wait:
    case SpanKind::sync:
    case SpanKind::checkpoint:
    case SpanKind::comm:
    case SpanKind::api:
    case SpanKind::runtime:
      return Part::call;
    case SpanKind::step:
    case SpanKind::loader:
    case SpanKind::overhead:
    case SpanKind::python:
    case SpanKind::graph:
      break;
  }
  return Part::nothing;
}

Work work_in(Part part, HostRole role, Work outside) {
  if (part == Part::loads) return Work::data;
  if (role == HostRole::feeds_accelerator) return outside;
  if (part == Part::computes) return Work::compute;
  return part == Part::copies ? Work::memory : outside;
}

struct Open {
  RunTime end;
  Stretch outside;  // where the thread is again when this has ended
};

}  // namespace

std::vector<Stretch> stretches_of(const Run& run, const Lane& lane, HostRole role) {
  std::vector<Stretch> stretches;
  std::vector<Open> open;
  Stretch now;
  const auto enter = [&](RunTime begin) {
    if (!stretches.empty()) begin = std::max(begin, stretches.back().begin);  // of spans that only overlap
    now.begin = begin;
    if (!stretches.empty() && stretches.back().begin == begin)
      stretches.back() = now;
    else
      stretches.push_back(now);
  };
  const auto close_until = [&](RunTime time) {
    while (!open.empty() && open.back().end <= time) {
      const RunTime end = open.back().end;
      now = open.back().outside;
      open.pop_back();
      enter(end);
    }
  };
  for (const Span& span : run.spans_of(lane)) {
    const Part part = part_of(span.kind);
    if (part == Part::nothing || span.time.empty()) continue;
    close_until(span.time.begin);
    open.push_back({span.time.end, now});
    now.span = run.id_of(span);
    now.work = work_in(part, role, now.work);
    now.idle = now.idle && part == Part::annotation;
    enter(span.time.begin);
  }
  close_until(RunTime::max());
  return stretches;
}

bool is_blocked(const Run& run, const Span& span) {
  if (span.kind == SpanKind::wait || span.kind == SpanKind::sync) return true;
  return span.kind == SpanKind::runtime && blocks_host(run.text(span.name));
}

}  // namespace rankscope::analyzer::replay
