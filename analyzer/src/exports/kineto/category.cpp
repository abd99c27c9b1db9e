#include "exports/kineto/rows.h"

#include "importers/kineto/categories.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

std::string_view kineto_category(const Run& run, const Span& span, const KinetoRow& row) {
  const Lane& lane = run.lane(span.lane);
  if (lane.kind == LaneKind::annotation) return "gpu_user_annotation";
  if (row.of_profiler) return "Trace";
  const bool on_stream = lane.kind == LaneKind::stream;
  switch (span.kind) {
    case SpanKind::op:
      return "cpu_op";
    case SpanKind::runtime:
      return "cuda_runtime";
    case SpanKind::compute:
    case SpanKind::comm:
    case SpanKind::graph:
      return on_stream ? "kernel" : "user_annotation";
    case SpanKind::memory:
      if (!on_stream) return "user_annotation";
      return run.text(span.name).starts_with("Memset") ? "gpu_memset" : "gpu_memcpy";
    case SpanKind::sync:
      return on_stream ? "cuda_sync" : "user_annotation";
    case SpanKind::overhead:
      // Readers put overhead on a row of its own, so that of a user's thread would leave it.
      return row.overhead || is_kineto_trace(run) ? "overhead" : "user_annotation";
    case SpanKind::python:
      return "python_function";
    case SpanKind::user:
    case SpanKind::step:
    case SpanKind::data:
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::wait:
    case SpanKind::loader:
    case SpanKind::checkpoint:
    case SpanKind::api:
      return "user_annotation";
  }
  return "user_annotation";
}

bool states_kind(std::string_view category, SpanKind kind) {
  const kineto::Category& known = kineto::category_from(category);
  return !known.name.empty() && known.kind == kind;
}

bool belongs_on(std::string_view category, LaneKind lane) {
  using enum kineto::LaneClass;
  const kineto::LaneClass wanted = kineto::category_from(category).lane;
  if (lane == LaneKind::stream) return wanted == stream;
  return lane == LaneKind::annotation ? wanted == annotation : wanted == thread;
}

}  // namespace rankscope::analyzer
