// A page of text, 100 columns wide: headings, wrapped paragraphs, aligned tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/colour.h"

namespace rankscope::analyzer {

inline constexpr std::size_t page_width = 100;

enum class Tone : std::uint8_t { plain, heading, faint, good, warning, bad, compute, comm, memory };

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
  std::size_t max_width = 40;
};

/// In a cell without a value.
inline constexpr std::string_view empty_cell = "–";

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  std::string narrow{};  ///< in place of a text that is too wide for its column; empty: its front
};

/// Rows of cells under titles; columns are as wide as their content.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Collects the text. Everything that is added must be printable() already.
class Page {
 public:
  explicit Page(Colour colour) : colour_(colour) {}

  void heading(std::string_view title, std::string_view explanation = {});
  void paragraph(std::string_view text, Tone tone = Tone::plain, std::size_t indent = 2);
  /// A first word or two in front of a paragraph that hangs behind them.
  void item(const Cell& label, std::string_view text, std::size_t label_width);
  void table(const Table& table);
  void line(std::string_view coloured_text);
  /// A title and what is said about it in one line; what is too long is cut off.
  void titled_line(std::string_view title, const Cell& said);
  void blank();

  [[nodiscard]] std::string toned(std::string_view text, Tone tone) const;
  /// An empty page of the same colours, to see how long a part becomes.
  [[nodiscard]] Page part() const { return Page{colour_}; }
  void add(const Page& part) { text_ += part.text_; }
  [[nodiscard]] std::size_t lines() const;
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void row(const Table& table, const std::vector<std::size_t>& widths, const std::vector<Cell>& cells);

  Colour colour_;
  std::string text_;
};

}  // namespace rankscope::analyzer
