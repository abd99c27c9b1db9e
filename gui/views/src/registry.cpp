#include "rankscope/gui/views/registry.h"

#include <algorithm>
#include <array>

#include "rankscope/analyzer/report.h"

namespace rankscope::gui {
namespace {

constexpr auto bottom = Qt::BottomDockWidgetArea;
constexpr auto right = Qt::RightDockWidgetArea;

/// Of the section of the report that a panel shows.
std::string_view title_of(std::string_view section) {
  const auto all = analyzer::sections();
  const auto found = std::ranges::find(all, section, &analyzer::SectionInfo::id);
  return found == all.end() ? std::string_view{} : found->title;
}

}  // namespace

std::span<const PanelInfo> panels() {
  static const std::array all{
      PanelInfo{"findings", title_of("findings"), bottom, make_findings_panel},
      PanelInfo{"details", "Details", right, make_details_panel},
      PanelInfo{"step_map", "Ranks and steps", bottom, make_step_map_panel},
      PanelInfo{"statistics", "Statistics", bottom, make_statistics_panel},
      PanelInfo{"pivot", "Pivot", bottom, make_pivot_panel, "statistics"},
      PanelInfo{"query", "SQL", bottom, make_query_panel, "statistics"},
      PanelInfo{"flame", title_of("operators"), bottom, make_flame_panel, "statistics"},
      PanelInfo{"memory", title_of("memory"), bottom, make_memory_panel, "statistics"},
      PanelInfo{"pipeline", title_of("pipeline"), bottom, make_pipeline_panel, "statistics"},
      PanelInfo{"search", "Search", bottom, make_search_panel, "statistics"},
      PanelInfo{"events", "Events", bottom, make_events_panel, "statistics"},
      PanelInfo{"efficiency", title_of("efficiency"), bottom, make_efficiency_panel, "findings"},
      PanelInfo{"quality", "Data quality", bottom, make_quality_panel, "findings"},
      PanelInfo{"what_if", title_of("what_if"), right, make_what_if_panel, "details"},
  };
  return all;
}

}  // namespace rankscope::gui
