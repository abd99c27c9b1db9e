// All keys of the timeline. The actions, the help and docs/viewer.md come from this table.
#pragma once

#include <QAction>
#include <QMenu>
#include <QString>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::gui {

struct Command {
  std::string_view id;  ///< stable: the user's own keys are kept by it (settings, keys/<id>)
  std::string_view title;
  std::string_view keys;  ///< separated by spaces, as QKeySequence reads them
  void (*run)(TimelineView& view) = nullptr;
};
[[nodiscard]] std::span<const Command> commands();

/// Commands that belong together, as a menu of a window.
struct CommandMenu {
  std::string_view title;  ///< empty: they stand in the menu itself
  std::span<const std::string_view> ids;
};
inline constexpr std::string_view marks_menu = "Marks";
/// Each command of a timeline is in one of them, except those that windows have elsewhere.
[[nodiscard]] std::span<const CommandMenu> command_menus();
/// Puts all commands of a timeline that the window has into submenus of a menu.
void fill_timeline_menu(QMenu& menu, const TimelineView& timeline);

/// The keys of a command as they are bound now, for people.
[[nodiscard]] QString bound_keys(const QAction& action);

/// Both tables as docs/viewer.md has them.
[[nodiscard]] std::string keys_as_markdown();

/// A list of what is bound now.
void show_keys(TimelineView& view);

}  // namespace rankscope::gui
