// Commands that the recorder runs beside the job: that of --on-hang, and what writes stacks.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace rankscope::collectors {

/// Starts a shell command that is left to itself: in a session of its own, with an empty input and without the
/// variables that tell a rank; what has ended is reaped with all else. Nothing: no shell was started.
[[nodiscard]] std::optional<pid_t> start_shell(const std::string& command, const std::vector<std::string>& arguments,
                                               std::string_view rank_env);

/// Tells these commands, with all processes of their sessions, from those of the job. For all threads.
class OwnCommands {
 public:
  /// As start_shell. False: no shell was started.
  [[nodiscard]] bool start(const std::string& command, const std::vector<std::string>& arguments,
                           std::string_view rank_env);
  /// True of the shell from its first moment on, and of what it starts. Waits for a start that is going on.
  [[nodiscard]] bool has(pid_t process) const;

 private:
  mutable std::mutex mutex_;                 // held while a shell starts, so that nobody sees it before it is known
  std::map<pid_t, std::uint64_t> sessions_;  // and when their leaders started, since pids repeat
};

}  // namespace rankscope::collectors
