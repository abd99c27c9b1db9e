#include "rankscope/gui/models/span_cells.h"

#include "rankscope/gui/models/words.h"

namespace rankscope::gui {

QVariant right_aligned() { return QVariant::fromValue(Qt::Alignment{Qt::AlignRight | Qt::AlignVCenter}); }

QVariant span_cell(const Run& run, const Span& span, int column, int role) {
  const bool speaks = role == Qt::DisplayRole || role == Qt::AccessibleTextRole;
  const bool is_time = column == static_cast<int>(SpanColumn::start) || column == static_cast<int>(SpanColumn::length);
  if (role == Qt::TextAlignmentRole && is_time) return right_aligned();
  if (role == Qt::ToolTipRole && column == static_cast<int>(SpanColumn::name)) return qt_text(run.text(span.name));
  if (!speaks) return {};
  switch (static_cast<SpanColumn>(column)) {
    case SpanColumn::start:
      return moment_text(run, span.time.begin);
    case SpanColumn::length:
      return time_text(span.time.length());
    case SpanColumn::name:
      return qt_text(short_name_of(run, span));
  }
  return {};
}

}  // namespace rankscope::gui
