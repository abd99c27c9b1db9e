// What of a name is written on a bar that is too short for it.
#pragma once

#include <QString>

namespace rankscope::gui {

/// So many letters of a text and an ellipsis: some of its beginning and more of its end, by which names of one family
/// differ. Of few letters only the beginning; empty where not even two fit.
[[nodiscard]] QString shortened_label(const QString& text, qsizetype letters);

}  // namespace rankscope::gui
