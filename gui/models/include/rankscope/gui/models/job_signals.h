// Signals to a job as a terminal sends them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace rankscope::gui {

/// All that a process has started and that still runs, without itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

/// To the recorder, which passes it on to its command, and to those further down that are of its process group: each
/// gets it once, as by Ctrl-C. `recorder` must not have been waited for.
void signal_job(pid_t recorder, int signal);

/// SIGKILL to all that the recorder has started, but not to it: it keeps what they recorded.
void kill_job(pid_t recorder);

}  // namespace rankscope::gui
