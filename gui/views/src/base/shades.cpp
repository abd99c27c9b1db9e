#include "base/shades.h"

#include <array>

#include "base/colours.h"
#include "rankscope/gui/models/report/step_map_model.h"

namespace rankscope::gui {
namespace {

using Shades = std::array<QRgb, shade_count>;
// The page of a report has the same.
constexpr Shades light_shades{0xff2166ac, 0xff67a9cf, 0xffc6dff0, 0xffe9edf1,
                              0xfffbdcbd, 0xfff0a25a, 0xffd3611a, 0xff842a03};
constexpr Shades dark_shades{0xff8ccbf7, 0xff4088bb, 0xff2a4b66, 0xff2b333e,
                             0xff573a1c, 0xff9c5c1d, 0xffea8b38, 0xffffdcb8};

}  // namespace

QColor colour_of_shade(int shade, const QPalette& palette) {
  const auto place = static_cast<std::size_t>(shade);
  return QColor::fromRgb((is_dark(palette) ? dark_shades : light_shades)[place]);
}

QColor text_on(const QColor& ground) { return text_on(ground.rgb()); }

QColor wrong_colour(const QPalette& palette) {
  return is_dark(palette) ? QColor{0xff, 0x9f, 0x88} : QColor{0xa3, 0x23, 0x0f};
}

void WrongText::set(bool wrong) {
  wrong_ = wrong;
  colour();
}

bool WrongText::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::PaletteChange) colour();
  return QObject::eventFilter(watched, event);
}

void WrongText::colour() {
  const QPalette::ColorRole role = label_.foregroundRole();
  QPalette colours;  // of the application
  if (wrong_) colours.setColor(role, wrong_colour(colours));
  if (label_.palette().color(role) == colours.color(role)) return;
  label_.setPalette(colours);
}

}  // namespace rankscope::gui
