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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;  // as under nohup
    sigaction(signal, &action, nullptr);
  }
}

int interrupted() { return came; }

}  // namespace rankscope::cli
