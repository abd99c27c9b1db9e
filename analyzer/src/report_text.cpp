#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "sections.h"

namespace rankscope::analyzer {
namespace {

/// What was asked for by name is never left out without a word.
void add_why_missing(Page& page, const Report& report, const ReportOptions& options) {
  for (const std::string& id : options.only)
    if (const std::string why = why_missing(report, id); !why.empty())
      page.paragraph(format("{}: not available: {}{}{}", id, sentence(why), remedy_for(report, id).empty() ? "" : " ",
                            remedy_for(report, id)),
                     Tone::warning, 0);
}

}  // namespace

std::string render_text(const Report& report, const Run&, const ReportOptions& options, Colour colour) {
  Page page{colour};
  for (const SectionRow& row : section_rows()) {
    if (!is_shown(row, options)) continue;
    if (row.text != nullptr)
      row.text(page, report, options);
    else if (row.tables != nullptr)
      add_noted_tables(page, row.tables(report, options.top));
  }
  add_why_missing(page, report, options);
  return std::move(page).take();
}

}  // namespace rankscope::analyzer
