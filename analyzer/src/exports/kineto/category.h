// Kineto's categories for the spans of any run.
#pragma once

#include <string_view>

#include "exports/kineto/rows.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// The one that comes nearest.
[[nodiscard]] std::string_view kineto_category(const Run& run, const Span& span, const KinetoRow& row);
/// True if a reader makes this kind of a category, unless the name says otherwise.
[[nodiscard]] bool states_kind(std::string_view category, SpanKind kind);
/// True if a reader puts a category on rows of this kind.
[[nodiscard]] bool belongs_on(std::string_view category, LaneKind lane);

}  // namespace rankscope::analyzer
