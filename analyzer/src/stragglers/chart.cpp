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
  } else if (const std::string none = none_text(source.report); !none.empty()) {
    if (source.report.asked_for.slow_ranks_left_out.empty())
      page.element("p", none);
    else
      page.element("p", none, {{"class", "warning"}});
  }
  if (!section.cannot_tell.empty()) page.element("p", doubt_sentence(source.report), {{"class", "warning"}});
  page.element("p", basis_of(source.report), {{"class", "faint"}});
}

}  // namespace rankscope::analyzer::html
