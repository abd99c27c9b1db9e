// Ctrl-C while something is written: the work ends at its next progress, and what was begun is removed.
#pragma once

namespace rankscope::cli {

/// From here on the first SIGINT, SIGTERM or SIGHUP is remembered, unless it is ignored; the second one ends the
/// program as usual.
void catch_interrupts();
/// The signal that came, or 0.
[[nodiscard]] int interrupted();

}  // namespace rankscope::cli
