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

/// Ranks, steps and length, in one line if possible; how unequal steps are is left out where it has no room.
std::string size_line(const Report& report) {
  const std::string of = ranks_text(report);
  const std::string recorded =
      format(" · {} recorded by {}", duration_text(report.duration_ns), printable(report.source));
  const auto steps = [&report](StepSpread spread) {
    return report.steps ? steps_text(*report.steps, spread) : std::string{};
  };
  for (const StepSpread spread : {StepSpread::all, StepSpread::without_jitter, StepSpread::none}) {
    const std::string line = of + steps(spread) + recorded + in_steps_text(report);
    if (display_width(line) <= page_width - 2) return line;
  }
  return of + steps(StepSpread::none) + recorded + in_steps_text(report);
}

}  // namespace

std::string in_steps_text(const Report& report) {
  constexpr std::int64_t percent_of_all = 90;
  if (!report.steps || report.asked_for.steps) return {};
  std::int64_t in_steps_ns = 0;
  for (const Step& step : report.steps->steps)
    if (step.complete) in_steps_ns += step.wall_ns;
  const bool nearly_all = in_steps_ns >= report.duration_ns / 100 * percent_of_all;
  return in_steps_ns == 0 || nearly_all ? std::string{} : format(", {} of it in steps", duration_text(in_steps_ns));
}

void add_brief_head(Page& page, const Report& report, const ReportOptions& options, std::size_t) {
  page.heading("RUN");
  page.paragraph(size_line(report));
  const RunIdentity identity = identity_of(report, options);
  std::string which = name_and_date(identity);
  if (!identity.command.empty()) which += (which.empty() ? "" : " · ") + identity.command;
  if (!which.empty()) page.line("  " + shortened(which, page_width - 2));
  if (const auto part = asked_for_text(report.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  if (clocks_apart(report)) page.paragraph(clock_text(report), Tone::warning);
  for (const ClockLine& line : clock_lines(report))
    if (line.tone == Tone::warning) page.paragraph(line.text, line.tone);
}

}  // namespace rankscope::analyzer
