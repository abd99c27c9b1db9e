#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"
#include "stragglers/parts.h"

namespace rankscope::analyzer::html {

void write_slow_ranks(Writer& page, const Source& source) {
  if (!source.report.stragglers) return;
  const auto& section = *source.report.stragglers;
  if (!section.rows.empty()) {
    write_table(page, straggler_table(section), "Ranks that are slower than their peers");
  } else if (const auto left_out = left_out_text(source.report.asked_for); !left_out.empty()) {
    page.element("p", "None of the ranks shown is slow. " + left_out, {{"class", "warning"}});
  } else if (section.cannot_tell.empty()) {
    page.element("p", none_text(source.report));
  }
  if (!section.cannot_tell.empty()) page.element("p", doubt_sentence(section), {{"class", "warning"}});
  page.element("p", basis_of(source.report), {{"class", "faint"}});
}

}  // namespace rankscope::analyzer::html
