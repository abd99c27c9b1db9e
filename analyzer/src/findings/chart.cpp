// What is wrong: evidence, advice, and what the repair gives back.
#include <algorithm>

#include "findings/parts.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/left_out.h"
#include "render/words.h"
#include "split/parts.h"
#include "verdict/doubts.h"

namespace rankscope::analyzer::html {
namespace {

void write_line(Writer& page, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  page.element("dt", name);
  page.element("dd", text);
}

std::string gain_text(const Report& report, const Finding& finding) {
  if (finding.gain_ns_per_step <= 0) return {};
  auto text = format("up to {} per step", duration_text(finding.gain_ns_per_step));
  if (report.steps && report.steps->mean_ns > 0)
    text += format(" ({})", percent_text(report.steps->share_of_step(finding.gain_ns_per_step)));
  return text;
}

void write_finding(Writer& page, const Report& report, const Finding& finding) {
  const auto item = page.scope("li", {{"class", format("finding {}", class_of(tone_of(finding.severity)))}});
  {
    const auto title = page.scope("h3");
    page.element("span", name_of(finding.severity), {{"class", "severity"}});
    page.text(" " + sentence(finding.title));
  }
  const auto lines = page.scope("dl");
  write_line(page, "Saves", gain_text(report, finding));
  write_line(page, "Evidence", sentence(finding.evidence));
  write_line(page, "Advice", finding.advice);
}

}  // namespace

void write_findings(Writer& page, const Source& source) {
  const Report& report = source.report;
  if (!report.findings) return;
  if (report.findings->empty()) {
    page.element("p", shows_everything(report)
                          ? "None."
                          : "Nothing was found in the data that could be judged; see the verdict.");
    return;
  }
  constexpr std::size_t most = 100;
  const auto list = page.scope("ol", {{"class", "findings"}});
  for (std::size_t i = 0; i < std::min(most, report.findings->size()); ++i)
    write_finding(page, report, (*report.findings)[i]);
  if (report.findings->size() > most) page.element("li", only_in_json(report.findings->size() - most, "finding"));
}

}  // namespace rankscope::analyzer::html
