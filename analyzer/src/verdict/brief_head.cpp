// The run in two lines, and what limits the verdict on it.
#include <algorithm>
#include <set>

#include "alignment/parts.h"
#include "facts/identity.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "steps/parts.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

/// True where ranks are not compared for want of a common clock.
bool clocks_apart(const Report& report) {
  if (report.ranks.size() < 2) return false;
  if (report.clock.method == "none") return true;
  std::set<std::string_view> hosts;
  for (const RankFacts& facts : report.rank_facts) hosts.insert(facts.host);
  return report.clock.method == "wall_clock" && hosts.size() > 1;
}

/// Ranks, steps and length in one line; how unequal steps are is left out where it has no room.
std::string size_line(const Report& report) {
  const std::string of = ranks_text(report);
  const std::string recorded =
      format(" · {} recorded by {}", duration_text(report.duration_ns), printable(report.source));
  std::string steps = report.steps ? steps_text(*report.steps) : "";
  if (display_width(of + steps + recorded) > page_width - 2) steps.erase(std::min(steps.find(" ("), steps.size()));
  return shortened(of + steps + recorded, page_width - 2);
}

}  // namespace

void add_brief_head(Page& page, const Report& report, const ReportOptions& options, std::size_t) {
  page.heading("RUN");
  page.paragraph(size_line(report));
  const RunIdentity identity = identity_of(report, options);
  std::string which = name_and_date(identity);
  if (!identity.command.empty()) which += (which.empty() ? "" : " · ") + identity.command;
  if (!which.empty()) page.line("  " + shortened(which, page_width - 2));
  if (const auto part = asked_for_text(report.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  if (clocks_apart(report)) page.paragraph(clock_text(report.clock), Tone::warning);
  for (const ClockLine& line : clock_lines(report))
    if (line.tone == Tone::warning) page.paragraph(line.text, line.tone);
}

}  // namespace rankscope::analyzer
