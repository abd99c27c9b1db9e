// What the menu Help shows.
#pragma once

#include <QString>

class QWidget;

namespace rankscope::gui {

/// docs/viewer.md beside the program or above its folder; empty: it is not there.
[[nodiscard]] QString docs_file();
/// The documentation of the viewer in a window of its own, with links to the other documents.
void show_docs(QWidget& window);
/// What each colour stands for, in the colours of the theme.
void show_legend(QWidget& window);
void show_about(QWidget& window);

}  // namespace rankscope::gui
