// What makes a verdict unsure: cuts, other losses, ranks without a recording, and questions without an answer.
#pragma once

#include <string>
#include <string_view>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// A fact of the run by its name; empty if it is not known.
[[nodiscard]] std::string_view fact(const Report& report, std::string_view name);
/// The source of the report, as advice_for() wants it: traces of jobs on Gloo have advice of their own.
[[nodiscard]] std::string_view advice_source(const Report& report);
[[nodiscard]] bool counts(const Report& report, Counter counter);
[[nodiscard]] std::string cut_input_text(const Report& report);
inline constexpr std::string_view cut_segment = "A recording is cut short: the time after the cut is not judged";

/// True if nothing hides a problem: only then "no problem found" and "none" are said.
[[nodiscard]] bool shows_everything(const Report& report);
/// "Only 2 of 128 ranks were recorded."; empty if all were, or if `said` says so already.
[[nodiscard]] std::string few_ranks_sentence(const Report& report, std::string_view said);

/// "Cannot tell <question>: <reason>." for all that could hide a problem; empty if nothing does.
[[nodiscard]] std::string cannot_tell(const Report& report);

}  // namespace rankscope::analyzer
