#include "quality/parts.h"

#include <algorithm>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "verdict/doubts.h"

namespace rankscope::analyzer {

namespace {

/// "events dropped"; "time rounded to µs" for time_rounded_us.
std::string shown_name(Counter counter) {
  if (counter == Counter::time_rounded_us) return "time rounded to µs";
  auto name = std::string{info_of(counter).name};
  std::ranges::replace(name, '_', ' ');
  return name;
}

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
  const std::string name = shown_name(row.counter);
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
    const auto words = words_of(row, advice_source(report));
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

void add_brief_quality(Page& page, const Report& report, const ReportOptions&, std::size_t) {
  std::vector<std::string> rows;
  Tone tone = Tone::warning;
  for (const auto& row : report.data_quality) {
    const Severity severity = info_of(row.counter).severity;
    if (row.value == 0 || severity == Severity::info) continue;
    if (severity == Severity::data_loss) tone = Tone::bad;
    const std::string name = shown_name(row.counter);
    const std::string where = row.where.size() == 1 ? format(" in {}", printable(row.where.front())) : std::string{};
    rows.push_back(format("{}: {}{}", name, row.value, where));
  }
  if (rows.empty()) return;
  constexpr std::string_view title = "DATA QUALITY";
  constexpr std::string_view back = "; --full says what to do";
  const std::size_t room = page_width - title.size() - 2 - back.size();
  page.titled_line(title, {listed(rows, ", ", room) + std::string{back}, tone});
}

void add_brief_missing(Page& page, const Report& report, const ReportOptions&, std::size_t) {
  std::vector<std::string> names;
  for (const auto& section : missing_sections(report))
    if (section.name != details_name) names.push_back(section.name);
  if (names.empty()) return;
  constexpr std::string_view title = "NOT AVAILABLE";
  constexpr std::string_view back = "; --full says why";
  page.titled_line(title, {listed(names, ", ", page_width - title.size() - 2 - back.size()) + std::string{back}});
  if (cannot_tell(report).empty()) return;
  for (const std::string_view id :
       {section_id::steps, section_id::ranks, section_id::stragglers, section_id::collectives}) {
    const std::string remedy = remedy_beside_finding(report, id);
    if (!why_missing(report, id).empty() && !remedy.empty()) return page.paragraph(remedy);
  }
}

}  // namespace rankscope::analyzer
