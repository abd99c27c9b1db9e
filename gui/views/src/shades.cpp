#include "shades.h"

#include <array>
#include <cmath>

#include "rankscope/gui/models/step_map_model.h"

namespace rankscope::gui {
namespace {

using Shades = std::array<QRgb, shade_count>;
// The page of a report has the same.
constexpr Shades light{0xff2166ac, 0xff67a9cf, 0xffc6dff0, 0xffe9edf1, 0xfffbdcbd, 0xfff0a25a, 0xffd3611a, 0xff842a03};
constexpr Shades dark{0xff8ccbf7, 0xff4088bb, 0xff2a4b66, 0xff2b333e, 0xff573a1c, 0xff9c5c1d, 0xffea8b38, 0xffffdcb8};

/// Relative luminance of WCAG 2.
double luminance(const QColor& colour) {
  const auto linear = [](double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

}  // namespace

QColor colour_of_shade(int shade, const QPalette& palette) {
  const auto place = static_cast<std::size_t>(shade);
  return QColor::fromRgb((is_dark(palette) ? dark : light)[place]);
}

QColor text_on(const QColor& ground) {
  constexpr double even_contrast = 0.179;  // where black and white read equally well
  return luminance(ground) > even_contrast ? Qt::black : Qt::white;
}

QColor wrong_colour(const QPalette& palette) {
  return is_dark(palette) ? QColor{0xff, 0x9f, 0x88} : QColor{0xa3, 0x23, 0x0f};
}

}  // namespace rankscope::gui
