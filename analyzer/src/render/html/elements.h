// Parts that the sections of the page share: tables, figures with axes, legends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/html/writer.h"
#include "render/noted_table.h"
#include "render/page.h"

namespace rankscope::analyzer::html {

/// A table of the text report as one of the page: its first column names the rows. With a script it can be sorted, and
/// filtered where it is long.
void write_table(Writer& page, const Table& table, std::string_view caption);

/// The same folded away under `caption`: what a chart shows, for those who cannot see it.
void write_folded_table(Writer& page, const Table& table, std::string_view caption);

/// Tables with what is said about them.
void write_noted_tables(Writer& page, const std::vector<NotedTable>& tables);

[[nodiscard]] std::string_view class_of(Tone tone);

struct LegendEntry {
  std::string_view colour;  ///< class of the style sheet
  std::string_view text;
};
void write_legend(Writer& page, std::span<const LegendEntry> entries);
/// One name and value of a list (`dl`).
void write_fact(Writer& page, std::string_view name, std::string_view value);

inline constexpr double chart_width = 960;

struct ChartWords {
  std::string_view id;
  std::string title;
  std::string description;  ///< what is seen, in a sentence, for those who cannot see it
};

/// One SVG in a figure; both end with it. Its marks have a title, which is shown as a tooltip.
class Chart {
 public:
  Chart(Writer& page, const ChartWords& words, double height);

  /// Text at a place; `kind` is a class: "tick", "tick middle", "tick end", "label", ...
  void text(double x, double y, std::string_view text, std::string_view kind);
  void line(double x1, double y1, double x2, double y2, std::string_view kind);

 private:
  Writer& page_;
  Writer::Scope figure_;
  Writer::Scope scroll_;
  Writer::Scope svg_;
};

/// A rectangle with a tooltip.
struct Bar {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};
void write_bar(Writer& page, const Bar& bar, std::string_view kind, std::string_view tooltip);

/// A time axis from 0 with round ticks.
struct TimeScale {
  std::int64_t longest_ns = 0;  ///< at its far end
  std::int64_t tick_ns = 1;
  std::int64_t unit_ns = 1;
  std::string_view unit;
  double pixels = 0;

  [[nodiscard]] double length(std::int64_t ns) const {
    return static_cast<double>(ns) / static_cast<double>(longest_ns) * pixels;
  }
  [[nodiscard]] std::string label(std::int64_t ns) const;
};
[[nodiscard]] TimeScale time_scale(std::int64_t longest_ns, double pixels);

/// Every how many of `count` things has a label, if at most `most` have one: 1, 2, 5, 10, ...
[[nodiscard]] std::size_t label_stride(std::size_t count, std::size_t most);

}  // namespace rankscope::analyzer::html
