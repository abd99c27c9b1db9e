// The section on pipeline: how it is found, its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "clocks/clock_trust.h"
#include "rankscope/analyzer/pipeline/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

[[nodiscard]] Section<PipelineSection> find_pipeline(const Run& run, const ClockTrust& clocks,
                                                     const Section<StepsSection>& steps);

/// Schedule, bubbles and parts, a sentence each; empty without a pipeline.
[[nodiscard]] std::vector<std::string> pipeline_lines(const PipelineSection& section);

/// By place of the pipeline.
[[nodiscard]] NotedTable pipeline_table(const PipelineSection& section, std::size_t most);

void add_pipeline(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json pipeline_json(const PipelineSection& section);

void judge_pipeline(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_pipeline(Writer& page, const Source& source);
}  // namespace html

// What the length of a pipeline's step is made of, in words.

/// "240 ms work + 90.0 ms bubble of the schedule + 12.2 ms uneven stages + 4.33 ms excess (...)"; uneven stages only
/// where they are known apart.
[[nodiscard]] std::string parts_text(const PipelineParts& parts);

}  // namespace rankscope::analyzer
