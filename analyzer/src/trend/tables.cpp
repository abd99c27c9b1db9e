#include "trend/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

/// The longest ones, in the order of the run.
std::vector<const OddStep*> longest(const std::vector<OddStep>& steps, std::size_t top) {
  std::vector<const OddStep*> kept;
  for (const OddStep& odd : steps) kept.push_back(&odd);
  std::ranges::stable_sort(kept, [](const OddStep* a, const OddStep* b) { return a->excess_ns > b->excess_ns; });
  kept.resize(std::min(kept.size(), top));
  std::ranges::sort(kept, {}, &OddStep::step);
  return kept;
}

}  // namespace

TrendLines trend_lines(const Report& report, std::size_t most) {
  TrendLines said;
  if (!report.trend) return said;
  const TrendSection& trend = *report.trend;
  for (const StepChange& change : trend.changes) said.lines.push_back(sentence(change_text(change)));
  if (trend.changes.empty() && trend.why_no_changes.empty())
    said.lines.emplace_back("No lasting change of 5 % or more was found.");
  if (!trend.why_no_changes.empty()) said.lines.push_back(sentence(trend.why_no_changes));
  for (const OddStep* odd : longest(trend.odd_steps, most)) said.lines.push_back(sentence(odd_text(*odd)));
  if (trend.odd_steps.empty()) said.lines.emplace_back("No step stands out from its neighbours.");
  said.left_out = left_out(trend.odd_steps.size(), most);
  return said;
}

void add_trend(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.trend) return;
  page.heading("STEPS OVER TIME");
  const TrendLines said = trend_lines(report, options.top);
  for (const std::string& line : said.lines) page.paragraph(line);
  add_left_out(page, said.left_out);
}

}  // namespace rankscope::analyzer
