// What the menu Help shows.
#pragma once

#include <QString>

class QWidget;

namespace rankscope::gui {

/// docs/viewer.md of the sources in which the program was built; empty: it is not there.
[[nodiscard]] QString docs_file();
/// True if a window of that object name belongs to this one, which is then in front.
bool raise_if_open(QWidget& window, const QString& name);
/// The documentation of the viewer in a window of its own, with links to the other documents.
void show_docs(QWidget& window);
/// What each colour stands for.
void show_legend(QWidget& window);
void show_about(QWidget& window);

}  // namespace rankscope::gui
