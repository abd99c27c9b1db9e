#include "rankscope/gui/models/words.h"

#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/time_text.h"

namespace rankscope::gui {

QString time_text(nanoseconds time) {
  return time < nanoseconds{0} ? QStringLiteral("-") + qt_text(duration_text(-time)) : qt_text(duration_text(time));
}

QString percent_text(double share) { return qt_text(format("{:.1f} %", 100 * share)); }

std::string short_name_of(const Run& run, const Span& span) {
  const std::string_view name = run.text(span.name);
  return span.kind == SpanKind::compute || span.kind == SpanKind::comm ? analyzer::short_kernel_name(name)
                                                                       : std::string{name};
}

QString rank_text(const Run& run, const Lane& lane) {
  if (lane.rank.is_set()) return qt_text(format("rank {}", lane.rank.value));
  const Process& process = run.processes()[lane.process];
  return process.pid == Process::no_pid ? qt_text(run.text(process.program)) : qt_text(format("pid {}", process.pid));
}

QString path_of(const Run& run, const Lane& lane) {
  return rank_text(run, lane) + QStringLiteral(" / ") + qt_text(run.text(lane.name));
}

QString attribute_text(const Run& run, const Attribute& attribute) {
  if (attribute.value.kind != AttributeKind::number) return qt_text(run.text(attribute.value.text));
  const std::int64_t number = attribute.value.number;
  if (!run.text(attribute.key).ends_with("bytes") || number < 0) return QString::number(number);
  return qt_text(format("{} ({})", number, analyzer::bytes_text(number)));
}

}  // namespace rankscope::gui
