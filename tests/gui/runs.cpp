#include "gui/runs.h"

#include "rankscope/core/model/run.h"

namespace rankscope::testing {

SpanId nth_span(const Run& run, RankId rank, SpanKind kind, int n) {
  for (const Span& span : run.spans())
    if (span.kind == kind && run.lane(span.lane).rank == rank && n-- == 0) return run.id_of(span);
  return SpanId::none();
}

}  // namespace rankscope::testing
