#include "child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "rankscope/core/format.h"

extern char** environ;

namespace rankscope::collectors {
namespace {

constexpr std::array relayed_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};
constexpr std::array asking_to_end{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Our environment with these variables in place of those of the same name.
std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::ranges::any_of(variables, [&](const auto& variable) { return variable.first == name; });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : variables) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become(char* const* arguments, char* const* variables, const SignalRelay& signals, int report) {
  signals.undo_in_child();
  execvpe(arguments[0], arguments, variables);
  const int error = errno;
  static_cast<void>(write(report, &error, sizeof error) == 0);
  _exit(error == ENOENT ? 127 : 126);
}

}  // namespace

SizeSignalIgnored::SizeSignalIgnored() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before_);
}
SizeSignalIgnored::~SizeSignalIgnored() { undo(); }
void SizeSignalIgnored::undo() const { sigaction(SIGXFSZ, &before_, nullptr); }

SignalRelay::SignalRelay(const SizeSignalIgnored& size_signal) : size_signal_(size_signal) {
  sigemptyset(&relayed_);
  for (const int signal : relayed_signals) sigaddset(&relayed_, signal);
  sigaddset(&relayed_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &relayed_, &before_);
  // Where SIGCHLD is ignored, the kernel throws the status of children away.
  struct sigaction keep {};
  keep.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &keep, &chld_before_);
  // Whoever reads what the recorder says may be gone: the events are gathered all the same.
  keep.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &keep, &pipe_before_);
}

void SignalRelay::undo_in_child() const {
  size_signal_.undo();
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

SignalRelay::~SignalRelay() {
  // What came too late to be passed on is dropped: the command has ended, its status is the answer.
  const timespec now{};
  while (sigtimedwait(&relayed_, nullptr, &now) > 0) {
  }
  sigaction(SIGCHLD, &chld_before_, nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool SignalRelay::wait(pid_t child, std::chrono::nanoseconds at_most, int own) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
  siginfo_t info{};
  const int signal = sigtimedwait(&relayed_, &info, &time);
  if (signal <= 0 || signal == SIGCHLD) return false;
  if (signal == own) return true;
  const bool ends = std::ranges::find(asking_to_end, signal) != asking_to_end.end();
  if (ends && stopped_by_.empty()) {
    stopped_by_ = std::string{"SIG"} + sigabbrev_np(signal);
    stopped_at_unix_ns_ = std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
  }
  // From the terminal (the kernel sends it) the command has it already, as it is in the same process group. A second
  // SIGINT would make torchrun and Python end without cleaning up.
  if (info.si_code != SI_KERNEL) kill(child, signal);
  return false;
}

Result<Started> start_command(const std::vector<std::string>& command,
                              const std::vector<std::pair<std::string, std::string>>& variables,
                              const SignalRelay& signals) {
  std::vector<std::string> words = command;
  std::vector<std::string> environment = merged_environment(variables);
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> entries = pointers_to(environment);
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0)
    return fail(ErrorKind::cannot_write, format("pipe: {}", std::strerror(errno)));
  const pid_t process = fork();
  if (process == 0) become(arguments.data(), entries.data(), signals, report[1]);
  const int fork_error = errno;
  close(report[1]);
  Started started{.process = process};
  if (process > 0 &&
      read(report[0], &started.error, sizeof started.error) != static_cast<ssize_t>(sizeof started.error)) {
    started.error = 0;  // closed by exec: it runs
  }
  close(report[0]);
  if (process < 0)
    return fail(ErrorKind::cannot_write, format("cannot start {}: {}", command.front(), std::strerror(fork_error)));
  return started;
}

std::optional<int> reap(pid_t process, const Reaped& reaped) {
  std::optional<int> status;
  int state = 0;
  while (true) {
    const pid_t ended = waitpid(-1, &state, WNOHANG);
    if (ended <= 0) return status;
    if (reaped) reaped(ended, state);
    if (ended == process) status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  }
}

}  // namespace rankscope::collectors
