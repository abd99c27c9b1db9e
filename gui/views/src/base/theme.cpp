#include "rankscope/gui/views/base/theme.h"

#include <QApplication>
#include <QEvent>
#include <QPalette>
#include <QSettings>
#include <QStyle>
#include <array>

#include "base/colours.h"

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
constexpr Grounds light_grounds{0xFFEFF1F3, 0xFFFFFFFF, 0xFFF5F7F9, 0xFFE4E8EC,
                                0xFF202124, 0xFF80868C, 0xFF2B78C5, 0xFF0B57B0};
constexpr Grounds dark_grounds{0xFF23282F, 0xFF181C22, 0xFF1F242B, 0xFF2A323D,
                               0xFFE4E9EF, 0xFF808892, 0xFF3474B3, 0xFF7FB7F0};

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

constexpr float part_of_text = 0.65F;  // paler than what was typed, with a contrast of more than 4.5 to 1

void mend() {
  QPalette palette = QApplication::palette();
  const QColor colour{blend(palette.color(QPalette::Base).rgb(), palette.color(QPalette::Text).rgb(), part_of_text)};
  if (palette.color(QPalette::PlaceholderText) == colour) return;
  palette.setColor(QPalette::PlaceholderText, colour);
  QApplication::setPalette(palette);
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
      return QApplication::setPalette(palette_of(light_grounds));
    case ThemeChoice::dark:
      QApplication::setStyle(QStringLiteral("Fusion"));
      return QApplication::setPalette(palette_of(dark_grounds));
  }
}

void choose_theme(ThemeChoice choice) {
  QSettings{}.setValue(theme_key, QString::fromLatin1(names[static_cast<std::size_t>(choice)]));
  use_theme(choice);
}

Placeholders::Placeholders(QApplication& application) {
  application.installEventFilter(this);
  mend();
}

bool Placeholders::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ApplicationPaletteChange && watched == QCoreApplication::instance()) mend();
  return false;
}

}  // namespace rankscope::gui
