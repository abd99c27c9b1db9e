// The marks of a timeline as entries of a menu.
#pragma once

#include <QMenu>

namespace rankscope::gui {

class TimelineView;

/// Whenever the menu is opened, it lists the marks below its own entries: their times and notes. An entry goes there.
void list_marks(QMenu& menu, TimelineView& timeline);

}  // namespace rankscope::gui
