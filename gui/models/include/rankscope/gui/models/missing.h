// What a recording lost, in sentences.
#pragma once

#include <QString>
#include <cstddef>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {

/// "Not everything is here.", then a line for each loss with how much of it there is, what that means and what to do:
/// "Events dropped: 7. The ring was full: ...". The greatest loss first; empty where nothing was lost.
/// If there are more than `most`, it says where the others are.
[[nodiscard]] QString missing_text(const Run& run, std::size_t most);

}  // namespace rankscope::gui
