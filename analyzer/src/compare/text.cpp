#include "compare/tables.h"
#include "compare/words.h"
#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

void add_run(Page& page, const ComparedRun& run) {
  page.item({title_of(run), Tone::heading}, printable(run.name.path), 8);
  page.item({""}, facts_text(run), 8);
}

/// What could not be compared, and the small changes that are not listed.
void add_rest(Page& page, const Comparison& comparison) {
  if (!comparison.split)
    page.paragraph(
        format("It is not known what the steps spent their time on: {}.", printable(comparison.split.error().why)));
  for (const std::string& sentence : unlisted_keys(comparison.keys)) page.paragraph(sentence);
  if (const std::string why = findings_unknown(comparison.findings); !why.empty()) page.paragraph(why);
  if (const std::string scaling = scaling_text(comparison); !scaling.empty()) page.paragraph(scaling);
}

}  // namespace

std::string render_text(const ComparisonView& view, Colour colour) {
  const Comparison& comparison = view.comparison;
  Page page{colour};
  const Verdict verdict = verdict_of(view);
  page.heading("VERDICT");
  page.paragraph(verdict.headline, verdict.tone);
  for (const std::string& text : verdict.more) page.paragraph(text);
  page.heading("RUNS");
  add_run(page, comparison.a);
  add_run(page, comparison.b);
  if (const std::string part = asked_for_text(comparison.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  for (const std::string& caveat : caveats_of(comparison)) page.paragraph(caveat, Tone::faint);
  for (const auto tables : {key_tables, split_tables, finding_tables, memory_tables, difference_tables})
    add_noted_tables(page, tables(view));
  page.blank();
  add_rest(page, comparison);
  return std::move(page).take();
}

}  // namespace rankscope::analyzer
