#include <algorithm>
#include <vector>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "sections.h"
#include "verdict/verdict.h"

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

std::string all_sections(const Report& report, const ReportOptions& options, Colour colour) {
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

// --- One screen ---

constexpr std::size_t lines_of_a_screen = 60;

constexpr std::string_view how_to_see_more =
    "All sections: --full · one section: --only ID (--help lists IDs) · as a web page: --html FILE";

struct Part {
  const SectionRow* row = nullptr;  ///< null: the last line
  std::string text;
};

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// A part that is longer than it may be ends with a word about it.
std::string cut(std::string text, std::size_t most) {
  if (lines_in(text) <= most || most == 0) return text;
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < most; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) + "  …; --full shows the rest.\n";
}

/// Lines that belong together have no blank one between them.
bool needs_gap(const std::string& above, const std::string& below) {
  return !above.empty() && !below.empty() && (lines_in(above) > 1 || lines_in(below) > 1);
}

std::string joined(const std::vector<Part>& parts) {
  std::string text;
  const std::string* above = nullptr;
  for (const Part& part : parts) {
    if (part.text.empty()) continue;
    if (above != nullptr && needs_gap(*above, part.text)) text += '\n';
    text += part.text;
    above = &part.text;
  }
  return text;
}

std::string brief_text(const SectionRow& row, const Report& report, const ReportOptions& options, const Page& like,
                       std::size_t most) {
  Page page = like.part();
  row.brief(page, report, options, most);
  return cut(std::move(page).take(), most);
}

/// Each part has its most lines; those without share what the others leave.
std::string one_screen(const Report& report, const ReportOptions& options, Colour colour) {
  const Page like{colour};
  std::vector<Part> parts;
  for (const SectionRow& row : section_rows())
    if (row.brief != nullptr)
      parts.push_back({&row, row.brief_lines > 0 ? brief_text(row, report, options, like, row.brief_lines) : ""});
  parts.push_back({nullptr, like.toned(how_to_see_more, Tone::faint) + "\n"});
  constexpr std::size_t gaps = 2;  // around a part that is added
  for (Part& part : parts)
    if (part.row != nullptr && part.row->brief_lines == 0)
      part.text =
          brief_text(*part.row, report, options, like, lines_left(lines_of_a_screen, gaps + lines_in(joined(parts))));
  return joined(parts);
}

}  // namespace

std::string render_text(const Report& report, const Run&, const ReportOptions& options, Colour colour) {
  const bool brief = options.text == TextLength::one_screen && options.only.empty();
  return brief ? one_screen(report, options, colour) : all_sections(report, options, colour);
}

std::vector<std::string> verdict_sentences(const Report& report) {
  Verdict verdict = verdict_of(report);
  std::vector<std::string> sentences{std::move(verdict.headline)};
  std::ranges::move(verdict.more, std::back_inserter(sentences));
  return sentences;
}

}  // namespace rankscope::analyzer
