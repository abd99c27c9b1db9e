// The commands of a timeline, in submenus.
#include <algorithm>
#include <array>

#include "rankscope/gui/models/base/words.h"
#include "timeline/commands.h"

namespace rankscope::gui {
namespace {

using CommandId = std::string_view;

constexpr std::array ids_of_moving{
    CommandId{"zoom_in"}, CommandId{"zoom_out"}, CommandId{"fit"},      CommandId{"zoom_selection"}, CommandId{"focus"},
    CommandId{"earlier"}, CommandId{"later"},    CommandId{"back"},     CommandId{"forward"},        CommandId{"up"},
    CommandId{"down"},    CommandId{"page_up"},  CommandId{"page_down"}};
constexpr std::array ids_of_events{
    CommandId{"next"},      CommandId{"previous"},      CommandId{"next_same"},       CommandId{"previous_same"},
    CommandId{"next_rank"}, CommandId{"previous_rank"}, CommandId{"next_collective"}, CommandId{"previous_collective"},
    CommandId{"follow"},    CommandId{"follow_back"}};
constexpr std::array ids_of_steps{CommandId{"next_step"}, CommandId{"previous_step"}, CommandId{"select_step"},
                                  CommandId{"next_finding"}, CommandId{"previous_finding"}};
constexpr std::array ids_of_search{CommandId{"search"}, CommandId{"next_match"}, CommandId{"previous_match"},
                                   CommandId{"find_ranks"}};
constexpr std::array ids_of_selection{CommandId{"select_all"}, CommandId{"copy"}, CommandId{"clear"}};
constexpr std::array ids_of_marks{CommandId{"mark"},        CommandId{"keep_mark"}, CommandId{"note"},
                                  CommandId{"remove_mark"}, CommandId{"next_mark"}, CommandId{"previous_mark"}};
constexpr std::array ids_of_rows{CommandId{"pin"},    CommandId{"fold_one"},    CommandId{"fold"},
                                 CommandId{"unfold"}, CommandId{"next_header"}, CommandId{"previous_header"},
                                 CommandId{"taller"}, CommandId{"lower"}};
constexpr std::array ids_of_panels{CommandId{"pivot"}, CommandId{"operators"}, CommandId{"memory"},
                                   CommandId{"pipeline"}, CommandId{"panels"}};
constexpr std::array ids_of_others{CommandId{"critical_path"}, CommandId{"colour"}};

constexpr std::array all_menus{CommandMenu{"Zoom and move", ids_of_moving},
                               CommandMenu{"Events", ids_of_events},
                               CommandMenu{"Steps and findings", ids_of_steps},
                               CommandMenu{"Search", ids_of_search},
                               CommandMenu{"Selection", ids_of_selection},
                               CommandMenu{marks_menu, ids_of_marks},
                               CommandMenu{"Rows", ids_of_rows},
                               CommandMenu{"Panels", ids_of_panels},
                               CommandMenu{"", ids_of_others}};

}  // namespace

std::span<const CommandMenu> command_menus() { return all_menus; }

void fill_timeline_menu(QMenu& menu, const TimelineView& timeline) {
  for (const CommandMenu& group : all_menus) {
    QMenu* into = &menu;
    for (const std::string_view id : group.ids) {
      auto* const action = timeline.findChild<QAction*>(qt_text(id));
      if (action == nullptr || !action->isVisible()) continue;  // this window does not have it
      if (into == &menu && !group.title.empty()) into = menu.addMenu(qt_text(group.title));
      into->addAction(action);
    }
  }
}

}  // namespace rankscope::gui
