#include "rankscope/core/model/host_work.h"

namespace rankscope {

HostWork host_work_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::op:
    case SpanKind::compute:
      return HostWork::compute;
    case SpanKind::comm:
      return HostWork::communication;
    case SpanKind::memory:
      return HostWork::copies;
    case SpanKind::data:
      return HostWork::data;
    case SpanKind::wait:
      return HostWork::wait;
    case SpanKind::sync:
      return HostWork::sync;
    case SpanKind::user:
    case SpanKind::step:
    case SpanKind::loader:
    case SpanKind::checkpoint:
    case SpanKind::runtime:
    case SpanKind::overhead:
    case SpanKind::api:
    case SpanKind::python:
    case SpanKind::graph:
      return HostWork::none;
  }
  return HostWork::none;
}

}  // namespace rankscope
