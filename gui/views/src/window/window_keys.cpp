#include "window/window_keys.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QKeyEvent>
#include <algorithm>
#include <array>

#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::gui {
namespace {

/// What lists, fields and drawn panels do something of their own with.
bool is_for(const QWidget* focus, QKeyEvent& key) {
  if (qobject_cast<const QAbstractItemView*>(focus) != nullptr && key.matches(QKeySequence::Copy)) return true;
  constexpr std::array moving{Qt::Key_Left,  Qt::Key_Right,     Qt::Key_Up,       Qt::Key_Down,   Qt::Key_Home,
                              Qt::Key_End,   Qt::Key_PageUp,    Qt::Key_PageDown, Qt::Key_Return, Qt::Key_Enter,
                              Qt::Key_Space, Qt::Key_Backspace, Qt::Key_Delete};
  return !key.modifiers().testFlag(Qt::AltModifier) &&
         std::ranges::any_of(moving, [&key](Qt::Key each) { return each == key.key(); });
}

}  // namespace

WindowKeys::WindowKeys(QMainWindow& window, QList<TimelineView*> timelines)
    : QObject(&window), timelines_(std::move(timelines)) {
  window.installEventFilter(this);
  for (QDockWidget* const dock : window.findChildren<QDockWidget*>()) dock->installEventFilter(this);  // may float
  for (TimelineView* const timeline : timelines_) timeline->installEventFilter(this);
  give_to(*timelines_.front());
}

/// Two actions with one key in a window would be ambiguous.
void WindowKeys::give_to(const TimelineView& current) {
  for (const TimelineView* const timeline : timelines_)
    for (QAction* const action : timeline->actions())
      action->setShortcutContext(timeline == &current ? Qt::WindowShortcut : Qt::WidgetShortcut);
}

bool WindowKeys::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn) {
    if (const auto* const timeline = qobject_cast<TimelineView*>(watched)) give_to(*timeline);
  } else if (event->type() == QEvent::ShortcutOverride && qobject_cast<TimelineView*>(watched) == nullptr) {
    const QWidget* const focus = QApplication::focusWidget();
    const bool is_of_timeline = qobject_cast<const TimelineView*>(focus) != nullptr;
    if (!is_of_timeline && is_for(focus, *static_cast<QKeyEvent*>(event))) {
      event->accept();  // the key goes to what has the keyboard
      return true;
    }
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace rankscope::gui
