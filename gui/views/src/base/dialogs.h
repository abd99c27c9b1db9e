// Windows and dialogs: how large they open, and asking for a folder.
#pragma once

#include <QFileDialog>
#include <QScreen>
#include <QWidget>

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

/// The size that is meant, or nine tenths of what the screen has room for.
[[nodiscard]] inline QSize first_size(QSize meant, QSize room) { return meant.boundedTo(room * 9 / 10); }

inline void open_at(QWidget& window, QSize meant) {
  window.resize(first_size(meant, window.screen()->availableGeometry().size()));
}

/// A window of timelines: nearly as large as the screen.
inline void open_large(QWidget& window) { window.resize(window.screen()->availableGeometry().size() * 88 / 100); }

}  // namespace rankscope::gui
