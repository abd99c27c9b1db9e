// The section on steps: its tables and JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

struct Report;

/// "Steps taken from step spans: 20 complete, 0 partial; 1 warm-up step left out, 19 counted." (metrics.md 1)
/// and what the recorder itself leaves out. The report must have steps.
[[nodiscard]] std::string steps_source(const Report& report);
/// How unequal the steps are, as far as there is room for it.
enum class StepSpread : std::uint8_t { none, without_jitter, all };
/// " · 20 steps of 46.2 ms (90 % within 48.1 ms, jitter 1.2 %)"
[[nodiscard]] std::string steps_text(const StepsSection& steps, StepSpread spread = StepSpread::all);
/// The shortest and the longest counted step, "336 ms to 365 ms"; empty if they do not differ, or none is counted.
[[nodiscard]] std::string range_of_steps(const StepsSection& steps);
[[nodiscard]] nlohmann::ordered_json step_json(const Step& step);

// The ranks that the reader of a report asked for.

[[nodiscard]] bool is_asked_for(const ReportOptions& options, RankId rank);

}  // namespace rankscope::analyzer
