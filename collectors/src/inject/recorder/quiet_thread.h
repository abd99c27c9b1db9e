// Threads of the recorder inside a host program.
#pragma once

#include <cstddef>

namespace rankscope::inject {

/// Starts a detached thread with a small stack that receives no signal of the host program; it outlives everything.
/// False: none could be made.
bool start_quiet_thread(const char* name, std::size_t stack_bytes, void* (*run)(void*)) noexcept;

/// How many of them live in this process. One that begins is counted late, and one that ends no longer.
[[nodiscard]] int quiet_threads() noexcept;
/// In the child of a fork, which has none of them.
void forget_quiet_threads() noexcept;

/// Called by a quiet thread of a process in which no others live any more, and whose main thread has ended with
/// `wait_status`. The caller returns then, and so do the others (see process_ends()): a thread like those of the
/// program ends after them. So the process ends as it would without the recorder: by the C library, on a stack that has
/// room for the program's exit handlers, or with the status of a main thread that ended past the C library. False: none
/// could be made.
bool end_process_after_quiet_threads(int wait_status) noexcept;
/// True from then on: quiet threads return soon.
[[nodiscard]] bool process_ends() noexcept;

}  // namespace rankscope::inject
