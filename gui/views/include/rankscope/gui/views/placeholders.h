// What line edits say while they are empty.
#pragma once

#include <QApplication>

namespace rankscope::gui {

/// As long as it lives, placeholder texts have a colour that can be read on the fields of the desktop's theme: dark
/// themes may leave them dark, too.
class Placeholders : public QObject {
  Q_OBJECT

 public:
  explicit Placeholders(QApplication& application);
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace rankscope::gui
