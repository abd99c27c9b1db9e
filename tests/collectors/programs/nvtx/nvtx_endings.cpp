// Scenes of processes that end in all manners, fork and exec.
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "nvtx_actor.h"

// ThreadSanitizer notices fork, but not the bare system call: without these, it takes the threads of the parent for
// threads of the child. Null where no sanitizer is linked.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" [[gnu::weak]] void __sanitizer_syscall_pre_impl_fork();
extern "C" [[gnu::weak]] void __sanitizer_syscall_post_impl_fork(long result);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

void pairs(const char* name, int count) {
  for (; count > 0; --count) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

int wait_for(pid_t child) {
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

/// end HOW N: N pairs, then the end.
int end(int, char** words) {
  pairs("before the end", std::stoi(words[1]));
  const std::string how = words[0];
  if (how == "kill") raise(SIGKILL);
  if (how == "term") raise(SIGTERM);
  if (how == "segv") raise(SIGSEGV);
  if (how == "abort") std::abort();
  if (how == "_exit") _exit(5);
  if (how == "quick_exit") std::quick_exit(6);
  if (how == "thread_exit") std::thread{[] { std::exit(8); }}.join();
  std::exit(7);
}

/// No handler of the C library runs.
pid_t bare_clone() {
  if (__sanitizer_syscall_pre_impl_fork != nullptr) __sanitizer_syscall_pre_impl_fork();
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (__sanitizer_syscall_post_impl_fork != nullptr) __sanitizer_syscall_post_impl_fork(child);
  return static_cast<pid_t>(child);
}

/// fork HOW N: parent and child write N pairs each; HOW is fork or clone.
int fork_scene(int, char** words) {
  const int count = std::stoi(words[1]);
  pairs("parent", count);
  nvtxRangePushA("around the fork");
  const pid_t child = std::strcmp(words[0], "clone") == 0 ? bare_clone() : fork();
  if (child == 0) {
    pairs("child", count);
    nvtxRangePop();  // began in the parent
    _exit(0);
  }
  pairs("parent", count);
  nvtxRangePop();
  return wait_for(child);
}

/// exec N: N pairs, then the same process becomes another program with N pairs.
int exec_scene(int, char** words) {
  pairs("before exec", std::stoi(words[0]));
  execl("/proc/self/exe", "nvtx_actor", "pushes", words[0], nullptr);
  return 1;
}

/// spawn N: a child process of another program image with N pairs, after own ones.
int spawn(int, char** words) {
  pairs("in the parent", 1);
  const pid_t child = fork();
  if (child == 0) execl("/proc/self/exe", "nvtx_actor", "pushes", words[0], nullptr);
  return wait_for(child);
}

volatile sig_atomic_t received = 0;

/// wait_signal: prints "ready", waits for one of the signals people send, ends with 40 + its number.
int wait_signal(int, char**) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = [](int number) { received = number; };
    sigaction(signal, &action, nullptr);
  }
  pairs("waiting", 1);
  sigset_t none;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  sigemptyset(&none);
  static_cast<void>(write(STDOUT_FILENO, "ready\n", 6) == 6);
  while (received == 0) sigsuspend(&none);
  return 40 + received;
}

}  // namespace

void add_ending_scenes(std::map<std::string, Scene>& scenes) {
  scenes["end"] = end;
  scenes["fork"] = fork_scene;
  scenes["exec"] = exec_scene;
  scenes["spawn"] = spawn;
  scenes["wait_signal"] = wait_signal;
}
