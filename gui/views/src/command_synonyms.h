// Other words for commands, as people look for them.
#pragma once

#include <QString>
#include <span>
#include <string_view>

namespace rankscope::gui {

struct Synonyms {
  std::string_view id;  ///< objectName() of the action
  std::string_view words;
};
[[nodiscard]] std::span<const Synonyms> synonyms();
/// Empty where there are none.
[[nodiscard]] QString synonyms_of(const QString& id);

}  // namespace rankscope::gui
