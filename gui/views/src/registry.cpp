#include "rankscope/gui/views/registry.h"

#include <array>

namespace rankscope::gui {
namespace {

constexpr auto bottom = Qt::BottomDockWidgetArea;
constexpr auto right = Qt::RightDockWidgetArea;
constexpr std::array all{
    PanelInfo{"findings", "Findings", bottom, make_findings_panel},
    PanelInfo{"details", "Details", right, make_details_panel},
    PanelInfo{"step_map", "Ranks and steps", bottom, make_step_map_panel},
    PanelInfo{"statistics", "Statistics", bottom, make_statistics_panel},
    PanelInfo{"flame", "Operators", bottom, make_flame_panel, "statistics"},
    PanelInfo{"memory", "Memory", bottom, make_memory_panel, "statistics"},
    PanelInfo{"pipeline", "Pipeline", bottom, make_pipeline_panel, "statistics"},
    PanelInfo{"search", "Search", bottom, make_search_panel, "statistics"},
    PanelInfo{"events", "Events", bottom, make_events_panel, "statistics"},
    PanelInfo{"efficiency", "Efficiency", bottom, make_efficiency_panel, "findings"},
    PanelInfo{"quality", "Data quality", bottom, make_quality_panel, "findings"},
    PanelInfo{"what_if", "What if", right, make_what_if_panel, "details"},
};

}  // namespace

std::span<const PanelInfo> panels() { return all; }

}  // namespace rankscope::gui
