// The sections of the page, each in a file of its own; their order is in render/html.cpp.
#pragma once

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "render/html/writer.h"

namespace rankscope::analyzer::html {

/// What the page is made of.
struct Source {
  const Report& report;
  const Run& run;
  const ReportOptions& options;
};

// Each writes what is under its heading, and nothing where the report lacks it: then there is no section. "Not
// available" says why, but for what needs an accelerator where no rank has one, and for what was not asked for.
void write_verdict(Writer& page, const Source& source);
void write_findings(Writer& page, const Source& source);
void write_slow_ranks(Writer& page, const Source& source);
void write_what_if(Writer& page, const Source& source);
void write_critical_path(Writer& page, const Source& source);
void write_steps(Writer& page, const Source& source);
void write_trend(Writer& page, const Source& source);
void write_split(Writer& page, const Source& source);
void write_heat_maps(Writer& page, const Source& source);
void write_idle_reasons(Writer& page, const Source& source);
void write_devices(Writer& page, const Source& source);
void write_efficiency(Writer& page, const Source& source);
void write_blame(Writer& page, const Source& source);
void write_bandwidth(Writer& page, const Source& source);
void write_data_loading(Writer& page, const Source& source);
void write_predicted(Writer& page, const Source& source);
void write_overlap(Writer& page, const Source& source);
void write_launches(Writer& page, const Source& source);
void write_kernels(Writer& page, const Source& source);
void write_fusable(Writer& page, const Source& source);
void write_operators(Writer& page, const Source& source);
void write_copies(Writer& page, const Source& source);
void write_flops(Writer& page, const Source& source);
void write_memory(Writer& page, const Source& source);
void write_pipeline(Writer& page, const Source& source);
/// Part of the section pipeline; nothing where there are no pipelines side by side.
void write_worker_map(Writer& page, const PipelineSection& section);
void write_collectives(Writer& page, const Source& source);
void write_clocks(Writer& page, const Source& source);
void write_hta(Writer& page, const Source& source);
void write_ranks(Writer& page, const Source& source);
void write_quality(Writer& page, const Source& source);
void write_missing(Writer& page, const Source& source);
void write_about(Writer& page, const Source& source);

/// Ranks that a page shows; of more only those farthest from the others.
inline constexpr std::size_t most_ranks = 32;
/// Rows of a table that is cut: a page has room for more than a terminal.
[[nodiscard]] inline std::size_t most_rows(const ReportOptions& options) {
  return std::max<std::size_t>(25, options.top);
}

}  // namespace rankscope::analyzer::html
