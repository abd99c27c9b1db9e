// Placeholder texts on dark and light desktops.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <cmath>

#include "gui/waiting.h"
#include "rankscope/gui/views/base/theme.h"

namespace rankscope::gui {
namespace {

/// Relative luminance (WCAG 2.1).
double luminance(const QColor& colour) {
  const auto linear = [](double part) {
    return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const auto [darker, brighter] = std::minmax({luminance(a), luminance(b)});
  return (brighter + 0.05) / (darker + 0.05);
}

/// As a desktop gives it: dark fields with bright texts, and placeholders that nobody thought of.
QPalette careless(const QColor& base, const QColor& text) {
  QPalette palette;
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::Text, text);
  palette.setColor(QPalette::PlaceholderText, QColor{0, 0, 0, 128});
  return palette;
}

TEST(Placeholders, CanBeReadOnDarkAndLightDesktops) {
  const QPalette before = QApplication::palette();
  QLineEdit field;
  const Placeholders placeholders{*qApp};
  for (const auto& [base, text] : {std::pair{0xFF232629, 0xFFFCFCFC}, {0xFFFFFFFF, 0xFF000000}}) {
    QApplication::setPalette(careless(QColor{static_cast<QRgb>(base)}, QColor{static_cast<QRgb>(text)}));
    const auto readable = [&field] {
      const QPalette& palette = field.palette();
      const QColor colour = palette.color(QPalette::PlaceholderText);
      return colour.alpha() == 255 && contrast(colour, palette.color(QPalette::Base)) > 4.5 &&
             colour != palette.color(QPalette::Text);
    };
    EXPECT_TRUE(testing::comes_true(readable)) << field.palette().color(QPalette::PlaceholderText).name().toStdString();
  }
  QApplication::setPalette(before);
}

}  // namespace
}  // namespace rankscope::gui
