// Every command of a window by its name, for those who do not know its key.
#pragma once

#include <QAction>
#include <QList>
#include <QString>
#include <span>
#include <string_view>

class QMenuBar;

namespace rankscope::gui {

/// The actions in the menus of a window and in those below them: what can be done in it.
[[nodiscard]] QList<QAction*> actions_of(const QMenuBar& menus);

/// Opens over `window` and offers those of `actions` that can be seen and used. Words that are typed choose those whose
/// names have all of them; Up and Down move, Return does it, Esc does nothing.
void show_command_palette(QWidget& window, const QList<QAction*>& actions);

struct Synonyms {
  std::string_view id;  ///< objectName() of the action
  std::string_view words;
};
[[nodiscard]] std::span<const Synonyms> synonyms();
/// Empty where there are none.
[[nodiscard]] QString synonyms_of(const QString& id);

}  // namespace rankscope::gui
