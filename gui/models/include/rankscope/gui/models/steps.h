// In which step of a rank a moment lies, and how a run gets steps.
#pragma once

#include <QString>

#include "rankscope/analyzer/report.h"

namespace rankscope::gui {

/// Null where there is no report, it has no steps, or the moment is outside of all of them.
[[nodiscard]] const analyzer::StepWindow* step_at(const analyzer::Report* report, RankId rank, RunTime moment);
/// Why there are no steps, and how the next recording gets them; empty where there are.
[[nodiscard]] QString no_steps_text(const analyzer::Report& report);

}  // namespace rankscope::gui
