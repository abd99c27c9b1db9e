// The section on steps over time: how it is found, its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/trend/section.h"
#include "render/left_out.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Changes of level and steps that stand out, with the ranks whose own time (9.1) made them.
[[nodiscard]] Section<TrendSection> find_trend(const Section<StepsSection>& steps,
                                               const Section<std::vector<RankRow>>& rows);

struct TrendLines {
  std::vector<std::string> lines;
  LeftOut left_out{};  ///< steps that stand out less
};

/// A line per change and per step that stands out, at most `most` of these; says so where there is none, and where
/// changes could not be looked for. Empty without steps.
[[nodiscard]] TrendLines trend_lines(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json trend_json(const TrendSection& section);
void add_trend(Page& page, const Report& report, const ReportOptions& options);

void judge_step_change(const RuleContext& context, std::vector<Finding>& findings);
void judge_odd_steps(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_trend(Writer& page, const Source& source);
}  // namespace html

// What made steps longer, in words that findings, text and page share.

/// "ranks 1, 3: compute, own time 100 ms to 150 ms"; without ranks that it is the communication, or
/// why they are not known.
[[nodiscard]] std::string grown_text(std::span<const GrownPart> ranks, std::string_view why_none);
/// "from step 60 on, steps take 1.40 times as long, 100 ms to 140 ms; rank 1: ..."
[[nodiscard]] std::string change_text(const StepChange& change);
/// "step 17 took 145 ms, 45.0 ms more than usual; rank 2: ..."
[[nodiscard]] std::string odd_text(const OddStep& odd);

}  // namespace rankscope::analyzer
