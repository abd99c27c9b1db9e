// Colours of differences, told apart with the usual kinds of colour blindness: blue is less, orange is more.
#pragma once

#include <QColor>
#include <QEvent>
#include <QLabel>
#include <QPalette>

namespace rankscope::gui {

/// True if text is brighter than its ground.
[[nodiscard]] inline bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Base).lightnessF() < palette.color(QPalette::Text).lightnessF();
}

/// `shade`: a place in shades().
[[nodiscard]] QColor colour_of_shade(int shade, const QPalette& palette);

/// Black or white, what reads better on it.
[[nodiscard]] QColor text_on(const QColor& ground);
/// Of sentences that say what is wrong; with a contrast of more than 4.5 to 1 to the window.
[[nodiscard]] QColor wrong_colour(const QPalette& palette);

/// Keeps the text of a label in that colour while it says what is wrong, whichever theme is chosen meanwhile.
class WrongText : public QObject {
 public:
  explicit WrongText(QLabel& label) : label_(label) { label.installEventFilter(this); }
  void set(bool wrong);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void colour();

  QLabel& label_;
  bool wrong_ = false;
};

}  // namespace rankscope::gui
