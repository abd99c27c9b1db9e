// What a recording lost, in one line.
#pragma once

#include <QString>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {

/// "Not everything is here: 12 events_dropped; ...", the greatest loss first, at most three; empty where nothing was
/// lost.
[[nodiscard]] QString missing_text(const Run& run);
/// All counters of loss with their advice, a line each.
[[nodiscard]] QString missing_details(const Run& run);

}  // namespace rankscope::gui
