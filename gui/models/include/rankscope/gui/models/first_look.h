// The time that a run is opened at.
#pragma once

#include "rankscope/gui/models/session.h"

namespace rankscope::gui {

/// Shows 100 ms around a time since the begin of the run that is open; again when the report has aligned the clocks,
/// unless somebody has looked elsewhere by then.
void look_at(Session& session, nanoseconds since_begin);

}  // namespace rankscope::gui
