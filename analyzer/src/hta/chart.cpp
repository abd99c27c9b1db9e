// What HTA says of the same traces, and why it differs.
#include "hta/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

void write_part(Writer& page, const HtaTable& part) {
  if (!part.table.columns.empty()) write_table(page, part.table, format("HTA: {}", part.title));
  if (part.left_out.rows > 0) page.element("p", on_page(part.left_out));
  for (const HtaReason& reason : part.reasons)
    page.element("p", reason.number.empty() ? reason.why : format("{}: {}", reason.number, reason.why),
                 {{"class", "faint"}});
}

}  // namespace

void write_hta(Writer& page, const Source& source) {
  const Report& report = source.report;
  if (!report.hta) return;
  page.element("p", sentence(hta_explanation), {{"class", "faint"}});
  if (!*report.hta) {
    page.element("p", sentence(report.hta->error().why), {{"class", "warning"}});
    return;
  }
  for (const std::string& note : hta_notes(report)) page.element("p", note);
  for (const HtaTable& part : hta_tables(report, most_rows(source.options))) write_part(page, part);
}

}  // namespace rankscope::analyzer::html
