#include "interrupt.h"

#include <atomic>
#include <csignal>

namespace rankscope::cli {
namespace {

std::atomic<int> came = 0;
static_assert(std::atomic<int>::is_always_lock_free, "it is set in a signal handler");

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { came = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

int interrupted() { return came; }

}  // namespace rankscope::cli
