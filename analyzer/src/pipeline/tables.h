// Pipeline parallelism in words and as a table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Schedule, bubbles and parts, a sentence each; empty without a pipeline.
[[nodiscard]] std::vector<std::string> pipeline_lines(const PipelineSection& section);

/// By place of the pipeline.
[[nodiscard]] NotedTable pipeline_table(const PipelineSection& section, std::size_t most);

void add_pipeline(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
