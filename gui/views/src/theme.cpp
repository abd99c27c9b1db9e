#include "rankscope/gui/views/theme.h"

#include <QApplication>
#include <QPalette>
#include <QSettings>
#include <QStyle>
#include <array>

namespace rankscope::gui {
namespace {

const QString theme_key = QStringLiteral("theme");
constexpr std::array names{"desktop", "light", "dark"};  // by ThemeChoice

struct Grounds {
  QRgb window;
  QRgb base;
  QRgb alternate;
  QRgb button;
  QRgb text;
  QRgb faint;  ///< of what is disabled
  QRgb highlight;
  QRgb link;
};
constexpr Grounds light{0xFFEFF1F3, 0xFFFFFFFF, 0xFFF5F7F9, 0xFFE4E8EC, 0xFF202124, 0xFF80868C, 0xFF2B78C5, 0xFF0B57B0};
constexpr Grounds dark{0xFF23282F, 0xFF181C22, 0xFF1F242B, 0xFF2A323D, 0xFFE4E9EF, 0xFF808892, 0xFF3474B3, 0xFF7FB7F0};

QPalette palette_of(const Grounds& grounds) {
  QPalette palette{QColor{grounds.button}, QColor{grounds.window}};
  palette.setColor(QPalette::Base, QColor{grounds.base});
  palette.setColor(QPalette::AlternateBase, QColor{grounds.alternate});
  palette.setColor(QPalette::ToolTipBase, QColor{grounds.alternate});
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
    palette.setColor(role, QColor{grounds.text});
    palette.setColor(QPalette::Disabled, role, QColor{grounds.faint});
  }
  palette.setColor(QPalette::Highlight, QColor{grounds.highlight});
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, QColor{grounds.link});
  palette.setColor(QPalette::LinkVisited, QColor{grounds.link});
  return palette;
}

}  // namespace

ThemeChoice chosen_theme() {
  const QString kept = QSettings{}.value(theme_key).toString();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (kept == QLatin1String{names[i]}) return static_cast<ThemeChoice>(i);
  return ThemeChoice::desktop;
}

void use_theme(ThemeChoice choice) {
  static const QString style_of_desktop = QApplication::style()->objectName();
  static ThemeChoice used = ThemeChoice::desktop;
  if (used == choice) return;
  used = choice;
  switch (choice) {
    case ThemeChoice::desktop:
      QApplication::setStyle(style_of_desktop);
      return QApplication::setPalette(QPalette{});
    case ThemeChoice::light:
      QApplication::setStyle(QStringLiteral("Fusion"));  // others paint in colours of the desktop
      return QApplication::setPalette(palette_of(light));
    case ThemeChoice::dark:
      QApplication::setStyle(QStringLiteral("Fusion"));
      return QApplication::setPalette(palette_of(dark));
  }
}

void choose_theme(ThemeChoice choice) {
  QSettings{}.setValue(theme_key, QString::fromLatin1(names[static_cast<std::size_t>(choice)]));
  use_theme(choice);
}

}  // namespace rankscope::gui
