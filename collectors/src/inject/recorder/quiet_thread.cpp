#include "inject/recorder/quiet_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace rankscope::inject {
namespace {

std::atomic<int> started_threads{0};
std::atomic<pid_t> last_of_ours{0};
std::atomic<int> status_of_main{0};

/// The C library ends the process with the last of its threads: that must be this one. It knows nothing of a main
/// thread that ended by a bare system call; the kernel takes the status of the last thread then.
void* be_the_last(void*) {
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 100'000};
  while (tgkill(getpid(), last_of_ours.load(), 0) == 0) clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
  if (const int status = WEXITSTATUS(status_of_main.load()); status != 0) syscall(SYS_exit, status);
  return nullptr;
}

}  // namespace

bool start_quiet_thread(const char* name, std::size_t stack_bytes, void* (*run)(void*)) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, nullptr) == 0;
  if (started) {
    started_threads.fetch_add(1);
    pthread_setname_np(thread, name);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

int quiet_threads() noexcept { return started_threads.load(); }
void forget_quiet_threads() noexcept { started_threads.store(0); }

bool end_process_after_this_thread(int wait_status) noexcept {
  last_of_ours.store(gettid());
  status_of_main.store(wait_status);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);  // for the new thread; this one returns at once
  pthread_t thread;
  if (pthread_create(&thread, nullptr, be_the_last, nullptr) != 0) return false;
  pthread_detach(thread);
  return true;
}

}  // namespace rankscope::inject
