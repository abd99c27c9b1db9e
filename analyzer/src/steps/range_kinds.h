// Which spans of the host tell where something happened.
#pragma once

#include "rankscope/core/model/span.h"

namespace rankscope::analyzer {

/// What a span of the host makes of the place of what happens inside it.
enum class Holds : std::uint8_t { nothing, op, range };

[[nodiscard]] constexpr Holds holds(SpanKind kind) {
  switch (kind) {
    case SpanKind::op:
      return Holds::op;
    case SpanKind::user:
    case SpanKind::data:
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::checkpoint:
    case SpanKind::api:
      return Holds::range;
    case SpanKind::step:
    case SpanKind::loader:
    case SpanKind::wait:
    case SpanKind::sync:
    case SpanKind::comm:
    case SpanKind::compute:
    case SpanKind::memory:
    case SpanKind::runtime:
    case SpanKind::overhead:
    case SpanKind::python:
    case SpanKind::graph:
      return Holds::nothing;
  }
  return Holds::nothing;
}

}  // namespace rankscope::analyzer
