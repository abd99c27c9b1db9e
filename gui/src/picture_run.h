// A picture of a run without anybody looking.
#pragma once

#include "rankscope/gui/views/window/main_window.h"
#include "start.h"

namespace rankscope::gui {

/// Opens the run, waits until all of it is painted, writes the picture. Returns the exit status; what went wrong is
/// said on standard error. The window stays unseen.
[[nodiscard]] int make_picture(Session& session, MainWindow& window, const StartOptions& options);

}  // namespace rankscope::gui
