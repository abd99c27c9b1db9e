// Kills a piece of work before its n-th call that changes a file, so that each moment at which it can die has its test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

namespace rankscope::testing {

/// Of a process that was traced.
struct Fate {
  bool killed = false;
  unsigned calls = 0;  ///< that change files; up to the kill
};

/// From <linux/ptrace.h>, which cannot be included beside <sys/ptrace.h>.
struct SyscallInfo {
  std::uint8_t op;
  std::array<std::uint8_t, 3> padding;
  std::uint32_t arch;
  std::uint64_t instruction_pointer;
  std::uint64_t stack_pointer;
  std::uint64_t number;
  std::array<std::uint64_t, 6> arguments;
};

inline bool changes_files(const SyscallInfo& call) {
  static constexpr std::array<std::uint64_t, 10> calls{
      SYS_write,    SYS_renameat2,       SYS_unlinkat,  SYS_mkdirat, SYS_fallocate,
      SYS_sendfile, SYS_copy_file_range, SYS_ftruncate, SYS_linkat,  SYS_symlinkat,
  };
#ifdef SYS_rename
  static constexpr std::array<std::uint64_t, 5> older{SYS_rename, SYS_unlink, SYS_rmdir, SYS_mkdir, SYS_renameat};
  if (std::ranges::find(older, call.number) != older.end()) return true;
  if (call.number == SYS_open) return (call.arguments[1] & O_CREAT) != 0;
#endif
  if (call.number == SYS_openat) return (call.arguments[2] & O_CREAT) != 0;
  return std::ranges::find(calls, call.number) != calls.end();
}

/// True for a call that is about to be made.
inline bool is_entered(pid_t process, SyscallInfo& call) {
  constexpr auto get_info = static_cast<__ptrace_request>(0x420e);  // PTRACE_GET_SYSCALL_INFO, Linux 5.3
  constexpr std::uint8_t entered = 1;
  call = {};
  return ptrace(get_info, process, sizeof call, &call) > 0 && call.op == entered;
}

/// Follows a stopped child to its end, or to its n-th call that changes files, before which it is killed.
inline Fate follow_and_kill(pid_t process, unsigned nth) {
  Fate fate;
  constexpr int of_a_call = SIGTRAP | 0x80;
  // Without PTRACE_O_TRACEEXEC, execve sends a SIGTRAP, which would end the program if it were passed on.
  constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC;
  constexpr int of_an_exec = SIGTRAP | (PTRACE_EVENT_EXEC << 8);
  if (ptrace(PTRACE_SETOPTIONS, process, nullptr, options) != 0) {
    ADD_FAILURE() << "a child process cannot be traced here";
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    return fate;
  }
  long signal = 0;
  for (int state = 0;;) {
    ptrace(PTRACE_SYSCALL, process, nullptr, signal);
    if (waitpid(process, &state, 0) != process || !WIFSTOPPED(state)) return fate;
    signal = WSTOPSIG(state) == of_a_call || state >> 8 == of_an_exec ? 0 : WSTOPSIG(state);
    SyscallInfo call{};
    if (WSTOPSIG(state) != of_a_call || !is_entered(process, call) || !changes_files(call)) continue;
    if (++fate.calls < nth) continue;
    kill(process, SIGKILL);
    waitpid(process, &state, 0);
    fate.killed = true;
    return fate;
  }
}

/// Runs `work` in a child process of its own.
inline Fate kill_at(unsigned nth, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int state = 0;
  waitpid(child, &state, WUNTRACED);
  return follow_and_kill(child, nth);
}

/// Sanitizers start threads of their own and cannot be traced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool can_trace = false;
#else
inline constexpr bool can_trace = true;
#endif

}  // namespace rankscope::testing
