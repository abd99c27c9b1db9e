#include "render/words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "rankscope/core/format.h"
#include "rankscope/core/utf8.h"
#include "words/json_text.h"

namespace rankscope::analyzer {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

/// Unicode's East Asian wide characters, in the coarse blocks that matter for names.
bool is_wide(char32_t code) {
  constexpr std::array<CodeRange, 8> wide{{{0x1100, 0x115F},
                                           {0x2E80, 0xA4CF},
                                           {0xAC00, 0xD7A3},
                                           {0xF900, 0xFAFF},
                                           {0xFE30, 0xFE6F},
                                           {0xFF00, 0xFF60},
                                           {0x1F300, 0x1FAFF},
                                           {0x20000, 0x3FFFD}}};
  return std::ranges::any_of(wide, [&](CodeRange range) { return code >= range.first && code <= range.last; });
}

std::size_t columns_of(char32_t code) {
  if (code >= 0x0300 && code <= 0x036F) return 0;  // combining marks
  return is_wide(code) ? 2 : 1;
}

/// Bytes of the longest front of `text` that takes at most `width` columns.
std::size_t bytes_in_width(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t used = 0;
  while (bytes < text.size()) {
    const auto character = first_character(text.substr(bytes));
    if (used + columns_of(character.code) > width) break;
    used += columns_of(character.code);
    bytes += character.bytes;
  }
  return bytes;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto character = first_character(text);
    width += columns_of(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string{text};
  return std::string{text.substr(0, bytes_in_width(text, width - 1))} + "…";
}

std::string shortened_inside(std::string_view text, std::size_t width) {
  std::size_t left = display_width(text);
  if (left <= width) return std::string{text};
  const std::size_t back_width = (width - 1) / 2;
  const std::string_view front = text.substr(0, bytes_in_width(text, width - 1 - back_width));
  while (left > back_width) {
    const auto character = first_character(text);
    left -= columns_of(character.code);
    text.remove_prefix(character.bytes);
  }
  return std::string{front}.append("…").append(text);
}

namespace {

constexpr auto unit_words = std::to_array<std::string_view>(
    {"%",   "ns",  "µs",  "ms",   "s",     "B",     "kB",      "MB",      "GB",    "TB",  "KiB",
     "MiB", "GiB", "TiB", "B/s",  "kB/s",  "MB/s",  "GB/s",    "TB/s",    "MHz",   "GHz", "W",
     "J",   "x",   "°C",  "FLOP", "GFLOP", "TFLOP", "GFLOP/s", "TFLOP/s", "points"});

/// True where the space lies between a number and its unit: "7.99 ms", "10 µs)".
bool parts_number_and_unit(std::string_view text, std::size_t space) {
  if (space == 0 || text[space - 1] < '0' || text[space - 1] > '9') return false;
  std::string_view word = text.substr(space + 1);
  word = word.substr(0, word.find(' '));
  while (!word.empty() && std::string_view{".,;:)"}.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return std::ranges::find(unit_words, word) != unit_words.end();
}

/// The last space up to `end` at which a line should end, else the last one; npos: there is none.
std::size_t last_break(std::string_view text, std::size_t end) {
  auto space = text.rfind(' ', end);
  while (space != std::string_view::npos && space > 0 && parts_number_and_unit(text, space))
    space = text.rfind(' ', space - 1);
  return space != std::string_view::npos && space > 0 ? space : text.rfind(' ', end);
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    auto end = bytes_in_width(text, width);
    const auto space = last_break(text, end);
    if (space != std::string_view::npos && space > 0) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::size_t lines_left(std::size_t all, std::size_t taken) { return taken < all ? all - taken : 1; }

std::string listed(std::span<const std::string> texts, std::string_view between, std::size_t width) {
  const auto first_texts = [&](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list.append(i == 0 ? "" : between).append(texts[i]);
    return count == texts.size() ? list : format("{} and {} more", list, texts.size() - count);
  };
  for (std::size_t count = texts.size(); count > 1; --count)
    if (std::string list = first_texts(count); display_width(list) <= width) return list;
  return texts.empty() ? std::string{} : shortened(first_texts(1), width);
}

std::string percent_text(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return format("{:.{}f} %", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

std::string decimal(std::int64_t value, int decimals) {
  std::int64_t unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  const auto magnitude = value < 0 ? -value : value;
  const auto whole = format("{}{}", value < 0 ? "-" : "", magnitude / unit);
  return decimals == 0 ? whole : format("{}.{:0{}}", whole, magnitude % unit, decimals);
}

std::string sentence(std::string_view text) {
  auto shown = printable(text);
  if (shown.empty()) return shown;
  if (shown.front() >= 'a' && shown.front() <= 'z') shown.front() = static_cast<char>(shown.front() - 'a' + 'A');
  return shown.ends_with('.') ? shown : shown + ".";
}

}  // namespace rankscope::analyzer
