#include "inject/recorder/quiet_thread.h"

#include <pthread.h>
#include <signal.h>

namespace rankscope::inject {

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
  if (started) pthread_setname_np(thread, name);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace rankscope::inject
