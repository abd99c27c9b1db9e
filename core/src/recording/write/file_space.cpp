#include "recording/write/file_space.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>

namespace rankscope::recording {
namespace {

/// Nothing can be sent where the limit is known to be too low.
bool is_within_limit(std::uint64_t end) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

bool size_signal_is_pending() {
  sigset_t pending;
  sigemptyset(&pending);
  return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

/// The kernel sent it to this thread, whose signals come before those of the process.
void take_size_signal() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  const timespec now{};
  sigtimedwait(&one, nullptr, &now);
}

}  // namespace

Undisturbed::Undisturbed() noexcept {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

Undisturbed::~Undisturbed() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  pthread_setcancelstate(cancel_state_, nullptr);
}

int allocate_space(int file, std::uint64_t begin, std::uint64_t bytes) noexcept {
  if (!is_within_limit(begin + bytes)) return EFBIG;
  const Undisturbed undisturbed;  // another thread may lower the limit now
  const bool was_pending = size_signal_is_pending();
  const int error = posix_fallocate(file, static_cast<off_t>(begin), static_cast<off_t>(bytes));
  if (error == EFBIG && !was_pending) take_size_signal();
  return error;
}

}  // namespace rankscope::recording
