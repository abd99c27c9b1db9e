// What the reader of a report asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Indices of a first and a last step, both included.
using StepRange = std::pair<std::int64_t, std::int64_t>;
/// As the last of a range: all that follow.
inline constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();
/// "the steps 3 to 9", "the steps from 3 on"
[[nodiscard]] std::string step_range_text(const StepRange& range);

/// HTA leaves out the last step of each rank unless told otherwise (19.2).
enum class HtaLastStep : std::uint8_t { dropped, kept };

/// How much of a report its text shows; JSON and page have all.
enum class TextLength : std::uint8_t {
  full,        ///< every section
  one_screen,  ///< the verdict and what supports it, at most 60 lines
};

/// What a reader asks for.
struct ReportOptions {
  std::optional<StepRange> steps;  ///< only what happened in these
  std::vector<RankId> ranks;       ///< only these are shown; empty = all
  bool include_warm_up = false;
  bool instances = false;  ///< JSON: list every matched operation
  std::size_t top = 10;
  std::vector<std::string> only;        ///< ids of sections: only these are shown; empty = all
  std::optional<HtaLastStep> hta;       ///< compute HTA's numbers, too
  std::optional<double> peak_tflops{};  ///< of one device, in the place of the table of devices
  TextLength text = TextLength::full;   ///< without effect where `only` chooses sections
  std::string run_name{};               ///< as the reader calls the run, at the top of text and page; empty: unnamed
};

/// True if a section is to be shown.
[[nodiscard]] bool wants(const ReportOptions& options, std::string_view id);

}  // namespace rankscope::analyzer
