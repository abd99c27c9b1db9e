// The report as one page.
#include <array>
#include <utility>
#include <vector>

#include "rankscope/analyzer/render.h"
#include "render/html/document.h"
#include "page_sections.h"
#include "verdict/sentences.h"

namespace rankscope::analyzer {
namespace {

using html::Source;
using html::Writer;

struct PageSection {
  std::string_view id;
  std::string_view title;
  std::string_view analysis;  ///< empty: only in the whole report
  void (*write)(Writer& page, const Source& source);
};

// The order of the page.
constexpr std::array sections{
    PageSection{"verdict", "Verdict", "", html::write_verdict},
    PageSection{"findings", "Findings", "findings", html::write_findings},
    PageSection{"slow-ranks", "Slow ranks", "stragglers", html::write_slow_ranks},
    PageSection{"what-if", "What if", "what_if", html::write_what_if},
    PageSection{"critical-path", "Critical path", "critical_path", html::write_critical_path},
    PageSection{"steps", "Steps", "steps", html::write_steps},
    PageSection{"trend", "Steps over time", "trend", html::write_trend},
    PageSection{"ranks", "Where the time went", "ranks", html::write_split},
    PageSection{"rank-steps", "Ranks and steps", "ranks", html::write_heat_maps},
    PageSection{"idle", "Why nothing ran", "ranks", html::write_idle_reasons},
    PageSection{"devices", "Devices", "ranks", html::write_devices},
    PageSection{"efficiency", "Efficiency", "efficiency", html::write_efficiency},
    PageSection{"blame", "Who made others wait", "blame", html::write_blame},
    PageSection{"data-loading", "Data loading", "data_loading", html::write_data_loading},
    PageSection{"overlap", "Overlap", "overlap", html::write_overlap},
    PageSection{"launches", "Launches", "launches", html::write_launches},
    PageSection{"kernels", "Kernels", "kernels", html::write_kernels},
    PageSection{"fusable", "Sequences worth fusing", "fusable", html::write_fusable},
    PageSection{"operators", "Operators", "operators", html::write_operators},
    PageSection{"copies", "Copies", "copies", html::write_copies},
    PageSection{"memory", "Memory", "memory", html::write_memory},
    PageSection{"predicted", "Predicted and measured", "predicted", html::write_predicted},
    PageSection{"flops", "FLOP and losses", "flops", html::write_flops},
    PageSection{"pipeline", "Pipeline", "pipeline", html::write_pipeline},
    PageSection{"collectives", "Collectives", "collectives", html::write_collectives},
    PageSection{"clocks", "Clocks", "collectives", html::write_clocks},
    PageSection{"bandwidth", "Communication bandwidth", "bandwidth", html::write_bandwidth},
    PageSection{"hta", "HTA's numbers", "hta", html::write_hta},
    PageSection{"processes", "Ranks", "ranks", html::write_ranks},
    PageSection{"data-quality", "Data quality", "", html::write_quality},
    PageSection{"missing", "Not available", "", html::write_missing},
    PageSection{"run", "About the run", "steps", html::write_about},
};

}  // namespace

std::string render_html(const Report& report, const Run& run, const ReportOptions& options) {
  std::vector<html::DocumentSection> all;
  for (const PageSection& section : sections) {
    const bool wanted = !section.analysis.empty() && wants(options, section.analysis);
    if (!options.only.empty() && !wanted && section.id != "missing") continue;
    Writer body;
    section.write(body, {report, run, options});
    auto text = std::move(body).take();
    if (!text.empty()) all.push_back({section.id, section.title, std::move(text)});
  }
  return html::document(
      {"rankscope report", ranks_text(report) + (report.steps ? steps_text(*report.steps) : std::string{})}, all);
}

}  // namespace rankscope::analyzer
