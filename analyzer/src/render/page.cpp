#include "render/page.h"

#include <algorithm>

#include "render/words.h"

namespace rankscope::analyzer {
namespace {

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::heading:
      return "\x1b[1m";
    case Tone::faint:
      return "\x1b[2m";
    case Tone::good:
      return "\x1b[1;32m";
    case Tone::warning:
      return "\x1b[1;33m";
    case Tone::bad:
      return "\x1b[1;31m";
    case Tone::compute:
      return "\x1b[32m";
    case Tone::comm:
      return "\x1b[35m";
    case Tone::memory:
      return "\x1b[36m";
  }
  return "";
}

std::string padding(std::size_t used, std::size_t width) { return std::string(width > used ? width - used : 0, ' '); }

}  // namespace

std::string Page::toned(std::string_view text, Tone tone) const {
  const auto code = colour_ == Colour::yes ? code_of(tone) : std::string_view{};
  if (code.empty() || text.empty()) return std::string{text};
  return std::string{code}.append(text).append("\x1b[0m");
}

void Page::line(std::string_view coloured_text) { text_.append(coloured_text).append("\n"); }

void Page::titled_line(std::string_view title, const Cell& said) {
  line(toned(title, Tone::heading) + "  " +
       toned(shortened(said.text, page_width - 2 - display_width(title)), said.tone));
}

std::size_t Page::lines() const { return static_cast<std::size_t>(std::ranges::count(text_, '\n')); }

void Page::blank() { text_ += '\n'; }

void Page::heading(std::string_view title, std::string_view explanation) {
  if (!text_.empty()) blank();
  auto whole = toned(title, Tone::heading);
  if (!explanation.empty()) {
    whole += "  " + toned(shortened(explanation, page_width - 2 - display_width(title)), Tone::faint);
  }
  line(whole);
}

void Page::paragraph(std::string_view text, Tone tone, std::size_t indent) {
  for (const auto& part : wrapped(text, page_width - indent)) line(std::string(indent, ' ') + toned(part, tone));
}

void Page::item(const Cell& label, std::string_view text, std::size_t label_width) {
  const std::size_t indent = 2 + label_width + 2;
  const auto shown = shortened(label.text, label_width);
  auto front = "  " + toned(shown, label.tone) + padding(display_width(shown), label_width) + "  ";
  for (const auto& part : wrapped(text, page_width - indent)) {
    line(front + part);
    front = std::string(indent, ' ');
  }
}

void Page::table(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<Cell> titles;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& column = table.columns[i];
    std::size_t width = display_width(column.title);
    for (const auto& cells : table.rows) width = std::max(width, display_width(cells[i].text));
    widths.push_back(std::min(width, std::max(column.max_width, display_width(column.title))));
    titles.push_back({column.title, Tone::faint});
  }
  row(table, widths, titles);
  for (const auto& cells : table.rows) row(table, widths, cells);
}

void Page::row(const Table& table, const std::vector<std::size_t>& widths, const std::vector<Cell>& cells) {
  std::string whole;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool fits = cells[i].narrow.empty() || display_width(cells[i].text) <= widths[i];
    const auto text = shortened(fits ? cells[i].text : cells[i].narrow, widths[i]);
    const auto gap = padding(display_width(text), widths[i]);
    const bool right = table.columns[i].align == Align::right;
    whole += "  " + (right ? gap : "") + toned(text, cells[i].tone) + (right ? "" : gap);
  }
  whole.erase(whole.find_last_not_of(' ') + 1);
  line(whole);
}

}  // namespace rankscope::analyzer
