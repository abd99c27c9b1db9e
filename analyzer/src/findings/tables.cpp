#include "findings/parts.h"

#include <span>
#include <vector>

#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"
#include "verdict/doubts.h"

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

namespace {

constexpr std::size_t label_width = 8;

void add_title(Page& page, const Finding& finding) {
  auto title = printable(finding.title);
  if (finding.gain_ns_per_step > 0)
    title += format(" · saves up to {} per step", duration_text(finding.gain_ns_per_step));
  page.item({std::string{name_of(finding.severity)}, tone_of(finding.severity)}, title, label_width);
}

void add_finding(Page& page, const Finding& finding) {
  add_title(page, finding);
  if (!finding.evidence.empty()) page.item({"", Tone::plain}, printable(finding.evidence), label_width);
  if (!finding.advice.empty()) page.item({"  advice", Tone::faint}, printable(finding.advice), label_width);
}

void add_heading(Page& page, const Report& report) {
  page.heading("FINDINGS");
  if (report.findings->empty())
    page.paragraph(shows_everything(report) ? "None."
                                            : "Nothing was found in the data that could be judged; see the verdict.");
}

/// "5 more: ...; --full shows them" in one line.
void add_others(Page& page, std::span<const Finding> others) {
  if (others.empty()) return;
  std::vector<std::string> titles;
  for (const Finding& finding : others) titles.push_back(printable(finding.title));
  const std::string front = format("{} more: ", others.size());
  constexpr std::string_view back = "; --full shows them";
  const std::size_t room = page_width - 2 - front.size() - back.size();
  page.line(format("  {}{}{}", front, listed(titles, "; ", room), back));
}

}  // namespace

void add_findings(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.findings) return;
  add_heading(page, report);
  std::size_t shown = 0;
  for (const auto& finding : *report.findings) {
    if (shown == options.top) break;
    if (shown++ > 0) page.blank();
    add_finding(page, finding);
  }
  add_left_out(page, left_out(report.findings->size(), options.top));
}

void add_brief_findings(Page& page, const Report& report, const ReportOptions&, std::size_t most) {
  if (!report.findings) return;
  add_heading(page, report);
  const std::span<const Finding> all{*report.findings};
  std::size_t shown = 0;
  for (; shown < all.size(); ++shown) {
    Page part = page.part();
    if (shown > 0) part.blank();
    add_finding(part, all[shown]);
    const std::size_t for_others = shown + 1 < all.size() ? 2 : 0;
    if (page.lines() + part.lines() + for_others > most) break;
    page.add(part);
  }
  if (shown > 0 && shown < all.size()) page.blank();
  add_others(page, all.subspan(shown));
}

}  // namespace rankscope::analyzer
