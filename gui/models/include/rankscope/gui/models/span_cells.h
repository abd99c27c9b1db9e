// The columns that tables of events have in common.
#pragma once

#include <QVariant>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {

/// The first columns of such a table; its own ones follow.
enum class SpanColumn : int { start, length, name };

/// Texts, alignment and tooltips of these columns; invalid for other columns and roles.
[[nodiscard]] QVariant span_cell(const Run& run, const Span& span, int column, int role);
/// Numbers stand at the right.
[[nodiscard]] QVariant right_aligned();

}  // namespace rankscope::gui
