// The report as one page.
#include <array>
#include <utility>
#include <vector>

#include "rankscope/analyzer/render.h"
#include "render/html/document.h"
#include "render/html/sections.h"
#include "render/sentences.h"

namespace rankscope::analyzer {
namespace {

using html::Source;
using html::Writer;

struct PageSection {
  std::string_view id;
  std::string_view title;
  void (*write)(Writer& page, const Source& source);
};

// The order of the page.
constexpr std::array sections{
    PageSection{"verdict", "Verdict", html::write_verdict},
    PageSection{"findings", "Findings", html::write_findings},
    PageSection{"slow-ranks", "Slow ranks", html::write_slow_ranks},
    PageSection{"steps", "Steps", html::write_steps},
    PageSection{"ranks", "Where the time went", html::write_split},
    PageSection{"rank-steps", "Ranks and steps", html::write_heat_maps},
    PageSection{"idle", "Why nothing ran", html::write_idle_reasons},
    PageSection{"overlap", "Overlap", html::write_overlap},
    PageSection{"launches", "Launches", html::write_launches},
    PageSection{"kernels", "Kernels", html::write_kernels},
    PageSection{"operators", "Operators", html::write_operators},
    PageSection{"copies", "Copies", html::write_copies},
    PageSection{"collectives", "Collectives", html::write_collectives},
    PageSection{"hta", "HTA's numbers", html::write_hta},
    PageSection{"processes", "Ranks", html::write_ranks},
    PageSection{"data-quality", "Data quality", html::write_quality},
    PageSection{"missing", "Not available", html::write_missing},
    PageSection{"run", "About the run", html::write_about},
};

}  // namespace

std::string render_html(const Report& report, const Run& run, const ReportOptions& options) {
  std::vector<html::DocumentSection> all;
  for (const PageSection& section : sections) {
    Writer body;
    section.write(body, {report, run, options});
    auto text = std::move(body).take();
    if (!text.empty()) all.push_back({section.id, section.title, std::move(text)});
  }
  return html::document(
      {"rankscope report", ranks_text(report) + (report.steps ? steps_text(*report.steps) : std::string{})}, all);
}

}  // namespace rankscope::analyzer
