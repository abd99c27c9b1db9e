#include "rankscope/trainer/launch/launcher.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "rankscope/core/format.h"

extern char** environ;

namespace rankscope::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// Peers find a lost rank themselves in seconds and say so; only then are they stopped, at last by force.
constexpr std::chrono::seconds time_to_notice{15};
constexpr std::chrono::seconds time_to_stop{5};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

struct Store {
  Socket socket;
  int port;
};

// The launcher itself listens and leaves the socket to rank 0: nobody can take the port in between.
Result<Store> listen_for_ranks(const LaunchOptions& options) {
  Socket socket{::socket(AF_INET, SOCK_STREAM, 0)};
  const int on = 1;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.master_port));
  address.sin_addr.s_addr = htonl(options.nodes > 1 ? INADDR_ANY : INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (socket.fd() < 0 || bind(socket.fd(), generic, length) != 0 || listen(socket.fd(), 1024) != 0 ||
      getsockname(socket.fd(), generic, &length) != 0) {
    return fail(ErrorKind::cannot_write, format("cannot listen on port {}: {}; give a free one with --master-port",
                                                options.master_port, std::strerror(errno)));
  }
  return Store{std::move(socket), ntohs(address.sin_port)};
}

struct Child {
  pid_t pid = 0;
  int rank = 0;
  bool running = true;
};

volatile std::sig_atomic_t received_signal = 0;
bool was_asked_to_end = false;
void remember_signal(int signal) { received_signal = signal; }

constexpr std::array forwarded{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

// No SA_RESTART: waitpid returns, and the signal is passed on at once.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  for (const int signal : forwarded) sigaction(signal, &action, nullptr);
}

std::vector<std::string> environment_of(const LaunchOptions& options, int local_rank, const Store* store,
                                        int restarts) {
  constexpr std::array<std::string_view, 11> replaced{"RANK=",
                                                      "WORLD_SIZE=",
                                                      "LOCAL_RANK=",
                                                      "LOCAL_WORLD_SIZE=",
                                                      "GROUP_RANK=",
                                                      "MASTER_ADDR=",
                                                      "MASTER_PORT=",
                                                      "RANKSCOPE_STORE_FD=",
                                                      "RANKSCOPE_LAUNCHER=",
                                                      "TORCHELASTIC_USE_AGENT_STORE=",
                                                      "RANKSCOPE_RESTART_COUNT="};
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (std::ranges::none_of(replaced, [&](auto name) { return variable.starts_with(name); })) {
      variables.emplace_back(variable);
    }
  }
  variables.push_back(format("RANK={}", options.node_rank * options.ranks + local_rank));
  variables.push_back(format("WORLD_SIZE={}", options.nodes * options.ranks));
  variables.push_back(format("LOCAL_RANK={}", local_rank));
  variables.push_back(format("LOCAL_WORLD_SIZE={}", options.ranks));
  variables.push_back(format("GROUP_RANK={}", options.node_rank));
  variables.push_back(format("MASTER_ADDR={}", options.master_address));
  variables.push_back(format("MASTER_PORT={}", store != nullptr ? store->port : options.master_port));
  variables.emplace_back("RANKSCOPE_LAUNCHER=1");
  variables.push_back(format("RANKSCOPE_RESTART_COUNT={}", restarts));
  if (store != nullptr && local_rank == 0) variables.push_back(format("RANKSCOPE_STORE_FD={}", store->socket.fd()));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

Result<Child> start(const std::string& program, std::vector<std::string> arguments, const LaunchOptions& options,
                    int local_rank, const Store* store, int restarts) {
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> environment = environment_of(options, local_rank, store, restarts);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> environment_list = pointers(environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return fail(ErrorKind::cannot_write, format("cannot start rank {}: {}", local_rank, std::strerror(errno)));
  if (pid == 0) {
    // Whatever ends the launcher, ends the ranks.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(125);
    if (store != nullptr && local_rank != 0) close(store->socket.fd());
    execve(program.c_str(), argument_list.data(), environment_list.data());
    _exit(127);
  }
  return Child{pid, options.node_rank * options.ranks + local_rank};
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

constexpr int wrong_usage = 2;  // exit status of a rank that has said itself what is wrong with its options

void report_end(const Child& child, int wait_status) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == wrong_usage) return;
  const std::string line =
      WIFSIGNALED(wait_status)
          ? format("rankscope-train: rank {} was killed by signal {} ({})\n", child.rank, WTERMSIG(wait_status),
                   strsignal(WTERMSIG(wait_status)))
          : format("rankscope-train: rank {} ended with status {}\n", child.rank, WEXITSTATUS(wait_status));
  std::fputs(line.c_str(), stderr);
}

void signal_running(const std::vector<Child>& children, int signal) {
  for (const auto& child : children) {
    if (child.running) kill(child.pid, signal);
  }
}

// What is done about ranks that outlive a failure: first nothing, then SIGTERM, then SIGKILL.
class Ending {
 public:
  void begin(std::chrono::seconds patience) {
    if (next_ == 0) due_ = Clock::now() + patience;
    next_ = std::max(next_, std::size_t{1});
  }
  void act(const std::vector<Child>& children) {
    if (next_ == 0 || next_ > signals.size() || Clock::now() < due_) return;
    signal_running(children, signals[next_ - 1]);
    ++next_;
    due_ = Clock::now() + time_to_stop;
  }

 private:
  static constexpr std::array signals{SIGTERM, SIGKILL};
  std::size_t next_ = 0;
  Clock::time_point due_;
};

// Polls, because one wait must serve children, signals and deadlines; 20 ms is nothing beside a training run.
int wait_for_all(std::vector<Child> children) {
  int first_failure = 0;
  Ending ending;
  while (std::ranges::any_of(children, &Child::running)) {
    if (const int signal = std::exchange(received_signal, 0); signal != 0) {
      signal_running(children, signal);
      if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
        was_asked_to_end = true;
        if (first_failure == 0) first_failure = 128 + signal;
        ending.begin(time_to_stop);
      }
    }
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, WNOHANG);
    const auto child = std::ranges::find(children, pid, &Child::pid);
    if (pid > 0 && child != children.end()) {
      child->running = false;
      if (wait_status != 0) {
        // The others fail because of the first one, and say so themselves.
        if (first_failure == 0) report_end(*child, wait_status);
        if (first_failure == 0) first_failure = status_of(wait_status);
        ending.begin(time_to_notice);
      }
      continue;
    }
    ending.act(children);
    usleep(20000);
  }
  return first_failure;
}

Result<int> launch_once(const std::string& program, const std::vector<std::string>& arguments,
                        const LaunchOptions& options, int restarts) {
  std::vector<Child> children;
  {
    std::vector<Store> store;  // only machine 0 serves
    if (options.node_rank == 0) {
      RS_TRY(Store listening, listen_for_ranks(options));
      store.push_back(std::move(listening));
    }
    for (int local_rank = 0; local_rank < options.ranks; ++local_rank) {
      auto child = start(program, arguments, options, local_rank, store.empty() ? nullptr : &store.front(), restarts);
      if (!child) {
        signal_running(children, SIGKILL);
        return tl::make_unexpected(child.error());
      }
      children.push_back(*child);
    }
  }
  return wait_for_all(std::move(children));
}

// Nobody who ends the launcher wants the ranks back; and options do not get better by themselves.
bool is_worth_another_try(int status) { return status != 0 && status != wrong_usage && !was_asked_to_end; }

}  // namespace

Result<int> launch_ranks(const std::string& program, const std::vector<std::string>& arguments,
                         const LaunchOptions& options) {
  catch_signals();
  for (int restarts = 0;; ++restarts) {
    RS_TRY(const int status, launch_once(program, arguments, options, restarts));
    if (restarts == options.restarts || !is_worth_another_try(status)) return status;
    std::fputs(
        format("rankscope-train: restarting all ranks (restart {} of {})\n", restarts + 1, options.restarts).c_str(),
        stderr);
  }
}

}  // namespace rankscope::trainer
