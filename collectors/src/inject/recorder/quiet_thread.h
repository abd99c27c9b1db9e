// Threads of the recorder inside a host program.
#pragma once

#include <cstddef>

namespace rankscope::inject {

/// Starts a detached thread with a small stack that receives no signal of the host program; it outlives everything.
/// False: none could be made.
bool start_quiet_thread(const char* name, std::size_t stack_bytes, void* (*run)(void*)) noexcept;

}  // namespace rankscope::inject
