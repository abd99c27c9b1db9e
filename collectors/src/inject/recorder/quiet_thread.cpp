#include "inject/recorder/quiet_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "rankscope/core/process_stat.h"

namespace rankscope::inject {
namespace {

using Run = void* (*)(void*);

std::atomic<int> living_threads{0};
std::atomic<bool> ends{false};
std::atomic<pid_t> caller{0};  ///< of end_process_after_quiet_threads()
std::atomic<int> status_of_main{0};

void* run_counted(void* run) {
  void* const result = reinterpret_cast<Run>(run)(nullptr);
  living_threads.fetch_sub(1);
  return result;
}

/// Besides the main thread, which has ended and is still counted, and the calling one.
bool others_live() {
  if (living_threads.load() > 0 || tgkill(getpid(), caller.load(), 0) == 0) return true;
  const auto process = process_stat(getpid());
  return process && process->threads > 2;
}

/// The C library ends the process with the last of its threads: that must be this one. It knows nothing of a main
/// thread that ended by a bare system call; the kernel takes the status of the last thread then.
void* be_the_last(void*) {
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 100'000};
  while (others_live()) clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
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
  const bool started = pthread_create(&thread, &attributes, run_counted, reinterpret_cast<void*>(run)) == 0;
  if (started) {
    living_threads.fetch_add(1);
    pthread_setname_np(thread, name);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

int quiet_threads() noexcept { return living_threads.load(); }

void forget_quiet_threads() noexcept {
  living_threads.store(0);
  ends.store(false);
}

bool process_ends() noexcept { return ends.load(std::memory_order_relaxed); }

bool end_process_after_quiet_threads(int wait_status) noexcept {
  caller.store(gettid());
  status_of_main.store(wait_status);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);  // for the new thread; this one returns at once
  pthread_t thread;
  if (pthread_create(&thread, nullptr, be_the_last, nullptr) != 0) return false;
  pthread_detach(thread);
  ends.store(true);
  return true;
}

}  // namespace rankscope::inject
