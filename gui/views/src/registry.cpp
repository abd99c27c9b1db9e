#include "rankscope/gui/views/registry.h"

#include <array>

namespace rankscope::gui {
namespace {

constexpr std::array all{
    PanelInfo{"findings", "Findings", Qt::BottomDockWidgetArea, make_findings_panel},
    PanelInfo{"details", "Details", Qt::RightDockWidgetArea, make_details_panel},
    PanelInfo{"step_map", "Ranks and steps", Qt::BottomDockWidgetArea, make_step_map_panel},
    PanelInfo{"statistics", "Statistics", Qt::BottomDockWidgetArea, make_statistics_panel},
    PanelInfo{"flame", "Operators", Qt::BottomDockWidgetArea, make_flame_panel},
    PanelInfo{"memory", "Memory", Qt::BottomDockWidgetArea, make_memory_panel},
    PanelInfo{"pipeline", "Pipeline", Qt::BottomDockWidgetArea, make_pipeline_panel},
    PanelInfo{"search", "Search", Qt::BottomDockWidgetArea, make_search_panel},
    PanelInfo{"efficiency", "Efficiency", Qt::BottomDockWidgetArea, make_efficiency_panel},
    PanelInfo{"quality", "Data quality", Qt::BottomDockWidgetArea, make_quality_panel},
    PanelInfo{"what_if", "What if", Qt::RightDockWidgetArea, make_what_if_panel},
    PanelInfo{"events", "Events as a table", Qt::BottomDockWidgetArea, make_events_panel},
};

}  // namespace

std::span<const PanelInfo> panels() { return all; }

}  // namespace rankscope::gui
