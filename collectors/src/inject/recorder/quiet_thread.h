// Threads of the recorder inside a host program.
#pragma once

#include <cstddef>

namespace rankscope::inject {

/// Starts a detached thread with a small stack that receives no signal of the host program; it outlives everything.
/// False: none could be made.
bool start_quiet_thread(const char* name, std::size_t stack_bytes, void* (*run)(void*)) noexcept;

/// How many were started in this process.
[[nodiscard]] int quiet_threads() noexcept;
/// In the child of a fork, which has none of them.
void forget_quiet_threads() noexcept;

/// Called by the last thread of a process whose main thread has ended with `wait_status`, which returns then: a thread
/// like those of the program ends after it. So the process ends as it would without the recorder: by the C library, on
/// a stack that has room for the program's exit handlers, or with the status of a main thread that ended past the C
/// library. False: none could be made.
bool end_process_after_this_thread(int wait_status) noexcept;

}  // namespace rankscope::inject
