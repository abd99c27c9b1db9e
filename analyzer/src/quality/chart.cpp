// How far the rest can be trusted: what was lost, what could not be computed, and what was recorded where.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "alignment/parts.h"
#include "quality/parts.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"
#include "split/parts.h"
#include "verdict/doubts.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer::html {

void write_quality(Writer& page, const Source& source) {
  Table table{{{"severity", Align::left}, {"what", Align::left}}, {}};
  for (const auto& row : source.report.data_quality) {
    if (row.value == 0) continue;
    const auto words = words_of(row, advice_source(source.report));
    table.rows.push_back({words.kind, {words.text}});
  }
  if (table.rows.empty()) {
    page.element("p", "Nothing was lost or altered.");
  } else {
    write_table(page, table, "Data that was lost, altered or left out");
  }
  page.element("p", clock_text(source.report), {{"class", "faint"}});
}

namespace {

/// What was asked for by name, and nothing else.
void write_why_missing(Writer& page, const Source& source) {
  std::vector<std::pair<std::string, std::string>> missing;
  for (const std::string& id : source.options.only)
    if (std::string why = why_missing(source.report, id); !why.empty()) missing.emplace_back(id, std::move(why));
  if (missing.empty()) return;
  const auto list = page.scope("dl", {{"class", "facts"}});
  for (const auto& [id, why] : missing) {
    page.element("dt", id);
    page.element("dd", sentence(why));
  }
}

}  // namespace

void write_missing(Writer& page, const Source& source) {
  if (!source.options.only.empty()) return write_why_missing(page, source);
  const auto missing = missing_sections(source.report);
  if (missing.empty()) return;
  const auto list = page.scope("dl", {{"class", "facts"}});
  for (const auto& section : missing) {
    page.element("dt", section.name);
    page.element("dd", sentence(section.why));
    if (!section.remedy.empty()) page.element("dd", section.remedy);
  }
}

}  // namespace rankscope::analyzer::html
