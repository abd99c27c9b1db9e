#include "findings/parts.h"

#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {

Tone tone_of(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::critical:
    case FindingSeverity::major:
      return Tone::bad;
    case FindingSeverity::minor:
      return Tone::warning;
    case FindingSeverity::info:
      return Tone::faint;
  }
  return Tone::plain;
}

void add_findings(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.findings) return;
  page.heading("FINDINGS");
  if (report.findings->empty())
    page.paragraph(cannot_tell(report).empty() ? "None." : "None among what could be judged; see the verdict.");
  constexpr std::size_t label_width = 8;
  std::size_t shown = 0;
  for (const auto& finding : *report.findings) {
    if (shown == options.top) break;
    if (shown++ > 0) page.blank();
    auto title = printable(finding.title);
    if (finding.gain_ns_per_step > 0)
      title += format(" · saves up to {} per step", duration_text(finding.gain_ns_per_step));
    page.item({std::string{name_of(finding.severity)}, tone_of(finding.severity)}, title, label_width);
    if (!finding.evidence.empty()) page.item({"", Tone::plain}, printable(finding.evidence), label_width);
    if (!finding.advice.empty()) page.item({"  advice", Tone::faint}, printable(finding.advice), label_width);
  }
  add_left_out(page, left_out(report.findings->size(), options.top));
}

}  // namespace rankscope::analyzer
