// The time that a run is opened at.
#pragma once

#include "rankscope/gui/models/session.h"

namespace rankscope::gui {

/// What is to be said of a time behind the end of the run that is open; empty where the run has it.
[[nodiscard]] QString why_not_at(const Session& session, nanoseconds since_begin);

/// Shows 100 ms around a time since the begin of the run that is open; again when the report has aligned the clocks,
/// unless somebody has looked elsewhere by then.
void look_at(Session& session, nanoseconds since_begin);

}  // namespace rankscope::gui
