// Operations of c10d as records: enqueued by a call of a backend, started and finished on whatever thread carries them
// out, and waited for by the host. Any number of threads.
#pragma once

#include <cstdint>

#include "inject/c10d/operation.h"
#include "inject/c10d/tensors.h"

namespace rankscope::inject::c10d {

/// c10::intrusive_ptr<Work> as functions return it: one pointer, which the caller makes room for. Counts nothing.
struct WorkPointer {
  WorkPointer() = default;
  WorkPointer(const WorkPointer& from) : work(from.work) {}  // NOLINT(modernize-use-equals-default): see ~WorkPointer
  WorkPointer& operator=(const WorkPointer&) = delete;
  ~WorkPointer() {}  // NOLINT(modernize-use-equals-default): what is not trivial is returned in memory
  void* work = nullptr;
};

struct Asked {
  Op op = Op::none;
  Payload payload{};
  std::int64_t peer = -1;  ///< root or partner, by its place in the group
};

// What a thread is inside of. Each of these is entered and left by one function that stands in front of another one;
// errors of the library leave it, too (unwinding.h).

/// One call of a backend. A call inside another one is a part of that. It is recorded as soon as the library hands work
/// over, makes a buffer, or returns: not if it refuses the arguments.
void enter_call(const void* backend, const Asked& asked) noexcept;
/// The outermost call gives the program this to wait for.
void returns(const WorkPointer& result) noexcept;
/// The caller of the outermost call carries it out itself.
void run_here() noexcept;

/// This thread carries out what another one handed over.
void enter_execution(const void* work) noexcept;

/// The host waits. Inside of calls and executions nobody is blocked but the operation itself.
void enter_wait(const void* work) noexcept;
void enter_wait(Op op) noexcept;
/// It does not wait, inside of a wait.
void enter_pause() noexcept;

/// What was entered last.
void leave() noexcept;

/// The call of this thread hands this work to another thread.
void hand_over(const void* work) noexcept;
/// Whoever waits for it goes on after this.
void has_ended(const void* work) noexcept;
/// Whoever waits for it gets an error after this.
void has_failed(const void* work) noexcept;

/// A new buffer of the transport; the send or receive that this thread calls, if any, is done when the buffer is.
void makes_buffer(const void* buffer) noexcept;
/// All of it has arrived or was sent; on a thread of the transport.
void buffer_is_done(const void* buffer) noexcept;

}  // namespace rankscope::inject::c10d
