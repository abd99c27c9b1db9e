// The command: started with its environment, fed with our signals, waited for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// While it lives, a file of this process that may not grow (ulimit -f) makes its write fail, and does not end the
/// process.
class SizeSignalIgnored {
 public:
  SizeSignalIgnored();
  SizeSignalIgnored(const SizeSignalIgnored&) = delete;
  SizeSignalIgnored& operator=(const SizeSignalIgnored&) = delete;
  ~SizeSignalIgnored();
  /// For the command, between fork and exec.
  void undo() const;

 private:
  struct sigaction before_ {};
};

/// While it lives, signals that end programs are not delivered but waited for and passed on; SIGPIPE is ignored.
class SignalRelay {
 public:
  explicit SignalRelay(const SizeSignalIgnored& size_signal);
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  /// Waits for a signal, at most so long; passes it to `child`. SIGCHLD ends the wait, too. True: it was `own`, which
  /// is not passed on.
  [[nodiscard]] bool wait(pid_t child, std::chrono::nanoseconds at_most, int own);
  /// The first one that asked to end, as "SIGINT"; empty: none did.
  [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
  /// When that was, in ns since 1970.
  [[nodiscard]] std::int64_t stopped_at_unix_ns() const { return stopped_at_unix_ns_; }
  /// For the command, between fork and exec: the signals as they were before.
  void undo_in_child() const;

 private:
  const SizeSignalIgnored& size_signal_;
  sigset_t relayed_{};
  std::string stopped_by_;
  std::int64_t stopped_at_unix_ns_ = 0;
  sigset_t before_{};
  struct sigaction chld_before_ {};
  struct sigaction pipe_before_ {};
};

struct Started {
  pid_t process = 0;
  int error = 0;  ///< errno of exec; the process has ended then
};

/// Starts the command; it stays in our process group, so that a terminal reaches both.
[[nodiscard]] Result<Started> start_command(const std::vector<std::string>& command,
                                            const std::vector<std::pair<std::string, std::string>>& variables,
                                            const SignalRelay& signals);

/// Told of each process that is reaped, with its status as of waitpid(2): nobody else can read it any more.
using Reaped = std::function<void(pid_t, int)>;

/// Exit status (128+n on a signal) once the process has ended; reaps everything else that has ended, too.
[[nodiscard]] std::optional<int> reap(pid_t process, const Reaped& reaped = {});

}  // namespace rankscope::collectors
