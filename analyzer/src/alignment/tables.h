// The clocks of a run, in words and as a table.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

struct ClockLine {
  std::string text;
  Tone tone = Tone::faint;
};
/// What the text report says: the method and its error, and where there are several clocks how far they were apart,
/// what is doubtful and what is not compared.
[[nodiscard]] std::vector<ClockLine> clock_lines(const Report& report);

/// One row per clock, the most doubtful first where there are more than `limit`.
[[nodiscard]] Table clock_table(const ClocksSection& clocks, std::size_t limit);

}  // namespace rankscope::analyzer
