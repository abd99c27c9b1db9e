// Asks for the name of a file to write.
#pragma once

#include <QFileDialog>

namespace rankscope::gui {

/// Not open yet; deletes itself when it closes, and does not stop the program while it is open. A filter is as in
/// "Picture (*.png)": a name without an end gets that of the chosen filter, before the dialog asks whether a file of
/// that name may be overwritten.
[[nodiscard]] QFileDialog* make_save_dialog(QWidget& window, const QString& title, const QStringList& filters);

}  // namespace rankscope::gui
