#include "quality/parts.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {

namespace {

std::string places_text(const QualityRow& row) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(row.where.size(), most); ++i)
    text += (i == 0 ? " In: " : "; ") + printable(row.where[i]);
  if (row.where.size() > most) text += format("; and {} more", row.where.size() - most);
  return text.empty() ? text : text + ".";
}

}  // namespace

QualityWords words_of(const QualityRow& row, std::string_view source) {
  const auto& info = info_of(row.counter);
  const auto tone = info.severity == Severity::data_loss ? Tone::bad
                    : info.severity == Severity::error   ? Tone::warning
                                                         : Tone::faint;
  auto name = std::string{info.name};
  std::ranges::replace(name, '_', ' ');
  const auto kind = info.severity == Severity::data_loss ? "data loss" : name_of(info.severity);
  return {{std::string{kind}, tone},
          format("{}: {}. {}{}", name, row.value, advice_for(row.counter, source), places_text(row))};
}

void add_quality(Page& page, const Report& report, const ReportOptions&) {
  page.heading("DATA QUALITY");
  bool any = false;
  for (const auto& row : report.data_quality) {
    if (row.value == 0) continue;
    any = true;
    const auto words = words_of(row, report.source);
    page.item(words.kind, words.text, 9);
  }
  if (!any) page.paragraph("Nothing was lost or altered.");
}

void add_missing(Page& page, const Report& report, const ReportOptions&) {
  const auto missing = missing_sections(report);
  if (missing.empty()) return;
  constexpr std::size_t label_width = 22;
  page.heading("NOT AVAILABLE");
  for (const auto& section : missing) {
    const bool closed = section.why.ends_with('.');
    page.item({section.name, Tone::warning}, section.why + (closed ? "" : "."), label_width);
    if (!section.remedy.empty()) page.item({"", Tone::plain}, section.remedy, label_width);
  }
}

}  // namespace rankscope::analyzer
