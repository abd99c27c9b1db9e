// Light or dark, whatever the desktop is.
#pragma once

#include <QApplication>
#include <cstdint>

namespace rankscope::gui {

/// `desktop` follows the desktop, also when that changes.
enum class ThemeChoice : std::uint8_t { desktop, light, dark };

/// As it was chosen last (settings, `theme`); `desktop` where nothing was.
[[nodiscard]] ThemeChoice chosen_theme();
/// For all windows of the program, at once. With `desktop` it follows the desktop again.
void use_theme(ThemeChoice choice);
/// The same, and it is kept in the settings.
void choose_theme(ThemeChoice choice);

/// As long as it lives, placeholder texts have a colour that can be read on the fields of the desktop's theme: dark
/// themes may leave them dark, too.
class Placeholders : public QObject {
  Q_OBJECT

 public:
  explicit Placeholders(QApplication& application);
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace rankscope::gui
