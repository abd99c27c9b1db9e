// Light or dark, whatever the desktop is.
#pragma once

#include <cstdint>

namespace rankscope::gui {

enum class ThemeChoice : std::uint8_t { desktop, light, dark };

/// As it was chosen last (settings, `theme`); `desktop` where nothing was.
[[nodiscard]] ThemeChoice chosen_theme();
/// For all windows of the program, at once. With `desktop` it follows the desktop again.
void use_theme(ThemeChoice choice);
/// The same, and it is kept in the settings.
void choose_theme(ThemeChoice choice);

}  // namespace rankscope::gui
