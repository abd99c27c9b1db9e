// All keys of the timeline. The actions, the help and docs/viewer.md come from this table.
#pragma once

#include <QAction>
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

/// The keys of a command as they are bound now, for people.
[[nodiscard]] QString bound_keys(const QAction& action);

/// Both tables as docs/viewer.md has them.
[[nodiscard]] std::string keys_as_markdown();

/// A list of what is bound now.
void show_keys(TimelineView& view);

}  // namespace rankscope::gui
