#include "render/html/elements.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::html {
namespace {

std::string cell_class(const Column& column, const Cell& cell) {
  std::string name{column.align == Align::right ? "number" : ""};
  if (const auto tone = class_of(cell.tone); !tone.empty()) name.append(name.empty() ? "" : " ").append(tone);
  return name;
}

void write_cell(Writer& page, std::string_view tag, const Column& column, const Cell& cell) {
  const auto name = cell_class(column, cell);
  if (tag == "th") {
    page.element("th", cell.text, {{"scope", "row"}, {"class", name}});
  } else if (name.empty()) {
    page.element("td", cell.text);
  } else {
    page.element("td", cell.text, {{"class", name}});
  }
}

void write_rows(Writer& page, const Table& table, std::string_view caption) {
  // Wide tables scroll in a part of their own, which the keyboard must reach.
  const auto scroll = page.scope(
      "div", {{"class", "scroll"}, {"role", "group"}, {"aria-label", std::string{caption}}, {"tabindex", "0"}});
  const auto whole = page.scope("table", {{"class", "data"}});
  page.element("caption", caption);
  {
    const auto head = page.scope("thead");
    const auto titles = page.scope("tr");
    for (const auto& column : table.columns) {
      page.element("th", column.title,
                   {{"scope", "col"}, {"class", column.align == Align::right ? "number" : "words"}});
    }
  }
  const auto body = page.scope("tbody");
  for (const auto& cells : table.rows) {
    const auto row = page.scope("tr");
    for (std::size_t i = 0; i < cells.size(); ++i) write_cell(page, i == 0 ? "th" : "td", table.columns[i], cells[i]);
  }
}

/// The smallest of 1, 2, 5, 10, 20, ... that is at least `least`.
std::int64_t round_up(std::int64_t least) {
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5})
      if (digit * power >= least) return digit * power;
  }
}

}  // namespace

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::heading:
      return "strong";
    case Tone::faint:
      return "faint";
    case Tone::good:
      return "good";
    case Tone::warning:
      return "warning";
    case Tone::bad:
      return "bad";
    case Tone::compute:
    case Tone::comm:
    case Tone::memory:
      return "";  // in the page the colours are those of the charts, with a legend
  }
  return "";
}

void write_table(Writer& page, const Table& table, std::string_view caption) { write_rows(page, table, caption); }

void write_folded_table(Writer& page, const Table& table, std::string_view caption) {
  const auto details = page.scope("details");
  page.element("summary", caption);
  write_rows(page, table, caption);
}

void write_noted_tables(Writer& page, const std::vector<NotedTable>& tables) {
  for (const NotedTable& noted : tables) {
    if (!noted.table.columns.empty())
      write_table(page, noted.table, noted.what.empty() ? noted.title : format("{}: {}", noted.title, noted.what));
    if (noted.left_out.rows > 0) page.element("p", on_page(noted.left_out));
    for (const std::string& note : noted.notes) page.element("p", note, {{"class", "faint"}});
  }
}

void write_legend(Writer& page, std::span<const LegendEntry> entries) {
  const auto list = page.scope("ul", {{"class", "legend"}});
  for (const auto& [colour, text] : entries) {
    const auto item = page.scope("li");
    {
      const auto swatch = page.scope(
          "svg", {{"class", "swatch"}, {"viewBox", "0 0 12 12"}, {"aria-hidden", "true"}, {"focusable", "false"}});
      page.empty("rect", {{"class", std::string{colour}}, {"width", "12"}, {"height", "12"}});
    }
    page.text(text);
  }
}

void write_fact(Writer& page, std::string_view name, std::string_view value) {
  const auto pair = page.scope("div");
  page.element("dt", name);
  page.element("dd", value);
}

Chart::Chart(Writer& page, const ChartWords& words, double height)
    : page_(page),
      figure_(page.scope("figure", {{"id", std::string{words.id}}})),
      scroll_((page.element("figcaption", words.title), page.scope("div", {{"class", "scroll"},
                                                                           {"role", "group"},
                                                                           {"aria-label", words.title + ", chart"},
                                                                           {"tabindex", "0"}}))),
      svg_(page.scope("svg", {{"class", "chart"},
                              {"viewBox", format("0 0 {} {}", number(chart_width), number(height))},
                              {"role", "img"},
                              {"aria-labelledby", format("{}-title {}-description", words.id, words.id)}})) {
  page.element("title", words.title, {{"id", format("{}-title", words.id)}});
  page.element("desc", words.description, {{"id", format("{}-description", words.id)}});
}

void Chart::text(double x, double y, std::string_view text, std::string_view kind) {
  page_.element("text", text, {{"class", std::string{kind}}, {"x", number(x)}, {"y", number(y)}});
}

void Chart::line(double x1, double y1, double x2, double y2, std::string_view kind) {
  page_.empty(
      "line",
      {{"class", std::string{kind}}, {"x1", number(x1)}, {"y1", number(y1)}, {"x2", number(x2)}, {"y2", number(y2)}});
}

void write_bar(Writer& page, const Bar& bar, std::string_view kind, std::string_view tooltip) {
  const auto rect = page.scope("rect", {{"class", format("mark {}", kind)},
                                        {"x", number(bar.x)},
                                        {"y", number(bar.y)},
                                        {"width", number(bar.width)},
                                        {"height", number(bar.height)}});
  page.element("title", tooltip);
}

std::string TimeScale::label(std::int64_t ns) const {
  return format("{:g}", static_cast<double>(ns) / static_cast<double>(unit_ns));
}

TimeScale time_scale(std::int64_t longest_ns, double pixels) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> units{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}}};
  constexpr std::int64_t most_ticks = 6;
  TimeScale scale;
  scale.longest_ns = std::max<std::int64_t>(1, longest_ns);
  scale.tick_ns = round_up((scale.longest_ns + most_ticks - 1) / most_ticks);
  const auto fits = [&](const auto& unit) { return scale.longest_ns >= unit.first; };
  std::tie(scale.unit_ns, scale.unit) = *std::ranges::find_if(units, fits);
  scale.pixels = pixels;
  return scale;
}

std::size_t label_stride(std::size_t count, std::size_t most) {
  return static_cast<std::size_t>(round_up(static_cast<std::int64_t>((count + most - 1) / most)));
}

}  // namespace rankscope::analyzer::html
