// Asks for a folder; does not stop the program while it is open.
#pragma once

#include <QFileDialog>

namespace rankscope::gui {

/// Not open yet; deletes itself when it closes. `fileSelected` tells the folder.
[[nodiscard]] inline QFileDialog* make_folder_dialog(QWidget* parent, const QString& title,
                                                     const QString& folder = {}) {
  auto* const dialog = new QFileDialog(parent, title, folder);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly);
  return dialog;
}

}  // namespace rankscope::gui
