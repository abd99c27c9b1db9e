// How large a window is when it opens for the first time.
#pragma once

#include <QScreen>
#include <QWidget>

namespace rankscope::gui {

/// The size that is meant, or nine tenths of what the screen has room for.
[[nodiscard]] inline QSize first_size(QSize meant, QSize room) { return meant.boundedTo(room * 9 / 10); }

inline void open_at(QWidget& window, QSize meant) {
  window.resize(first_size(meant, window.screen()->availableGeometry().size()));
}

}  // namespace rankscope::gui
