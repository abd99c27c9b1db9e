// The section on the clocks of a run: its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/clocks/section.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

struct Report;

struct ClockLine {
  std::string text;
  Tone tone = Tone::faint;
};
/// What the text report says: the method and its error, and where there are several clocks how far they were apart,
/// what is doubtful and what is not compared.
[[nodiscard]] std::vector<ClockLine> clock_lines(const Report& report);

/// One row per clock, the most doubtful first where there are more than `limit`.
[[nodiscard]] Table clock_table(const ClocksSection& clocks, std::size_t limit);
/// Adds to the method and the error what is known of each clock, where there are several.
void add_clocks(nlohmann::ordered_json& clock, const ClocksSection& section);
/// How the clocks of the ranks were brought together, and what that means for comparisons.
[[nodiscard]] std::string clock_text(const Report& report);

namespace html {
void write_clocks(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
