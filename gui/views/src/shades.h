// Colours of differences, told apart with the usual kinds of colour blindness: blue is less, orange is more.
#pragma once

#include <QColor>
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

}  // namespace rankscope::gui
