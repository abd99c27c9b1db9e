// Plays one scene of processes and threads that live for a moment, or end in unusual manners.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "rankscope/collectors/annotate.h"

namespace {

namespace annotate = rankscope::annotate;

void one_event() { const annotate::Span span{annotate::Kind::op, "short life"}; }

/// processes N: N children one after the other, each with one event.
int processes(int count) {
  one_event();
  for (; count > 0; --count) {
    const pid_t child = fork();
    if (child == 0) {
      one_event();
      _exit(0);
    }
    int state = 0;
    if (waitpid(child, &state, 0) != child || state != 0) return 1;
  }
  return 0;
}

/// threads N: N threads one after the other, each with one event.
int threads(int count) {
  for (; count > 0; --count) std::thread{one_event}.join();
  return 0;
}

/// burst N: N pairs as fast as it can.
int burst(int count) {
  for (; count > 0; --count) one_event();
  std::puts("done");
  return 0;
}

/// raw_end N: N events, then the main thread ends, and only it.
int raw_end(int count) {
  for (; count > 0; --count) one_event();
  std::puts("end");
  std::fflush(stdout);
  syscall(SYS_exit, 3);
  return 0;
}

/// last_thread N: N events, then the main thread ends before another one does; the C library ends the process then.
int last_thread(int count) {
  for (; count > 0; --count) one_event();
  std::atexit([] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    std::printf("at exit, signals are %s\n", sigisemptyset(&blocked) == 1 ? "delivered" : "blocked");
  });
  std::thread{[] { usleep(50'000); }}.detach();
  pthread_exit(nullptr);
}

/// closes_all_last_thread N: the same after N events and as many behind the end of all descriptors.
int closes_all_last_thread(int count) {
  for (int i = 0; i < count; ++i) one_event();
  for (int file = 3; file < 1024; ++file) close(file);
  return last_thread(count);
}

/// next_file N: N events, then the number of the next file.
int next_file(int count) {
  for (; count > 0; --count) one_event();
  std::printf("%d\n", open("/dev/null", O_RDONLY));
  return 0;
}

/// closes_all N: N events, then all descriptors but the standard ones are closed, as daemons do, and N events more.
int closes_all(int count) {
  burst(count);
  for (int file = 3; file < 1024; ++file) close(file);
  return burst(count);
}

/// strict N: N events, then nothing but read, write and the end of the thread is allowed.
int strict(int count) {
  for (; count > 0; --count) one_event();
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  const bool written = write(STDOUT_FILENO, "strict\n", 7) == 7;
  syscall(SYS_exit, written ? 4 : 5);
  return 0;
}

}  // namespace

int main(int words_count, char** words) {
  const std::map<std::string, int (*)(int)> scenes{{"processes", processes},
                                                   {"threads", threads},
                                                   {"burst", burst},
                                                   {"raw_end", raw_end},
                                                   {"last_thread", last_thread},
                                                   {"next_file", next_file},
                                                   {"closes_all", closes_all},
                                                   {"closes_all_last_thread", closes_all_last_thread},
                                                   {"strict", strict}};
  if (words_count < 3) return 2;
  const auto scene = scenes.find(words[1]);
  return scene == scenes.end() ? 2 : scene->second(std::stoi(words[2]));
}
