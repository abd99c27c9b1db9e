// In which step of a rank a moment lies.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::gui {

/// Null where there is no report, it has no steps, or the moment is outside of all of them.
[[nodiscard]] const analyzer::StepWindow* step_at(const analyzer::Report* report, RankId rank, RunTime moment);

}  // namespace rankscope::gui
