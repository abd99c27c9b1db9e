// The answer first: who is slow, why and by how much, and the size of the run in figures.
#include "verdict/verdict.h"

#include <iterator>

#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"
#include "steps/find.h"

namespace rankscope::analyzer::html {
namespace {

void write_figures(Writer& page, const Report& report) {
  const auto list = page.scope("dl", {{"class", "figures"}});
  const auto ranks = static_cast<std::int64_t>(report.ranks.size());
  write_fact(page, "Ranks",
             report.world_size > ranks ? format("{} of {}", ranks, report.world_size) : format("{}", ranks));
  if (report.steps) {
    write_fact(page, "Steps", format("{}", report.steps->steps.size()));
    if (report.steps->median_ns > 0) {
      write_fact(page, "Median step", duration_text(report.steps->median_ns));
      const std::string range = range_of_steps(*report.steps);
      if (std::ssize(counted_steps(*report.steps)) < least_for_spread) {
        if (!range.empty()) write_fact(page, "Step times", range);
      } else {
        write_fact(page, "90 % of steps within", duration_text(report.steps->p90_ns));
        write_fact(page, "Jitter", percent_text(report.steps->jitter));
      }
    }
  }
  write_fact(page, "Recorded", format("{} by {}", duration_text(report.duration_ns), report.source));
}

}  // namespace

void write_verdict(Writer& page, const Source& source) {
  const auto verdict = verdict_of(source.report);
  {
    const auto box = page.scope("div", {{"class", format("verdict {}", class_of(verdict.tone))}});
    page.element("p", verdict.headline, {{"class", "headline"}});
    for (const auto& sentence : verdict.more) page.element("p", sentence);
  }
  if (const auto part = asked_for_text(source.report.asked_for); !part.empty())
    page.element("p", part, {{"class", "warning"}});
  write_figures(page, source.report);
}

}  // namespace rankscope::analyzer::html
