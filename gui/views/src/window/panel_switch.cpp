#include "window/panel_switch.h"

#include <QApplication>
#include <QDockWidget>
#include <algorithm>
#include <utility>

namespace rankscope::gui {

void PanelSwitch::toggle(QWidget& keyboard) {
  const auto docks = window_.findChildren<QDockWidget*>();
  const bool any = std::ranges::any_of(docks, [](const QDockWidget* dock) { return dock->isVisible(); });
  any&& hidden_.isEmpty() ? hide_all(keyboard) : show_again();
}

/// Qt would give the keyboard to whatever is next, which may be a field that takes keys as text.
void PanelSwitch::hide_all(QWidget& keyboard) {
  hidden_ = window_.saveState();
  const QWidget* const focus = QApplication::focusWidget();
  const auto docks = window_.findChildren<QDockWidget*>();
  if (std::ranges::any_of(docks, [focus](const QDockWidget* dock) { return dock->isAncestorOf(focus); }))
    keyboard.setFocus();
  for (QDockWidget* const dock : docks) dock->hide();
}

void PanelSwitch::show_again() {
  if (!hidden_.isEmpty() && window_.restoreState(std::exchange(hidden_, {}))) return;
  for (QDockWidget* const dock : window_.findChildren<QDockWidget*>()) dock->show();
}

}  // namespace rankscope::gui
