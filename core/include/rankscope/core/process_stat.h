// What the kernel reports about a process in /proc/PID/stat, and about the host that it runs on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// The few fields that tell how a process is, and whether a pid still means the same process.
struct ProcessStat {
  char state = '?';                       ///< 'R' running, 'T' stopped, 'Z' dead but not reaped, ...
  std::int64_t threads = 0;               ///< field 20; those that have ended not counted
  std::uint64_t start_ticks_of_boot = 0;  ///< field 22: with the pid and the boot id it names a process for ever
  int wait_status = 0;                    ///< field 52 of a main thread that has ended, as of waitpid; 0 if not shown
};

/// Nothing if there is no such process. Allocates no memory, so that it may run anywhere in a recorded program.
[[nodiscard]] std::optional<ProcessStat> process_stat(pid_t process);

/// The same from the text of the file.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// Changes whenever the host starts anew; empty where the kernel does not tell.
[[nodiscard]] std::string boot_id();

}  // namespace rankscope
