// What a host thread does while it is inside a span.
#pragma once

#include <cstdint>

#include "rankscope/core/model/span.h"

namespace rankscope {

/// How the time of a host thread counts; `none`: the span says nothing of it.
enum class HostWork : std::uint8_t { none, compute, communication, copies, data, wait, sync };

/// What a span makes of the time of its thread where no span inside it makes anything of it.
[[nodiscard]] HostWork host_work_of(SpanKind kind);

}  // namespace rankscope
