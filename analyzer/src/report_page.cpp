// The report as one page.
#include <algorithm>
#include <utility>
#include <vector>

#include "facts/identity.h"
#include "rankscope/analyzer/render.h"
#include "render/html/document.h"
#include "render/html/elements.h"
#include "sections.h"
#include "steps/parts.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

std::string body_of(const SectionRow& row, const Source& source) {
  html::Writer body;
  if (row.chart != nullptr)
    row.chart(body, source);
  else if (row.tables != nullptr)
    html::write_noted_tables(body, row.tables(source.report, html::most_rows(source.options)));
  return std::move(body).take();
}

std::string anchor_of(const SectionRow& row) {
  std::string anchor{row.id};
  std::ranges::replace(anchor, '_', '-');
  return anchor;
}

}  // namespace

std::string render_html(const Report& report, const Run& run, const ReportOptions& options) {
  std::vector<html::DocumentSection> all;
  for (const SectionRow& row : section_rows()) {
    if (row.title.empty() || (!is_shown(row, options) && row.id != "missing")) continue;
    if (std::string text = body_of(row, {report, run, options}); !text.empty())
      all.push_back({anchor_of(row), row.title, std::move(text)});
  }
  RunIdentity identity = identity_of(report, options);
  return html::document({.kind = "rankscope report",
                         .about = ranks_text(report) + (report.steps ? steps_text(*report.steps) : std::string{}),
                         .run = name_and_date(identity),
                         .command = std::move(identity.command)},
                        all);
}

}  // namespace rankscope::analyzer
