// Names of segment files: HOST-PID-START.rseg, START being field 22 of /proc/PID/stat.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace rankscope::collectors {

/// Pid and start time in clock ticks since boot: pids repeat.
struct ProcessKey {
  pid_t pid = 0;
  std::uint64_t start = 0;
  auto operator<=>(const ProcessKey&) const = default;
};

[[nodiscard]] std::string host_name();
/// HOST-PID-START of a running process.
[[nodiscard]] std::string segment_stem(pid_t process);
/// The process in the name of a segment file of this host, or nothing.
[[nodiscard]] std::optional<ProcessKey> process_of_segment(std::string_view file_name);
/// Moment a process started, in clock ticks since boot; 0 if it is gone.
[[nodiscard]] std::uint64_t start_of(pid_t process);
/// True if the process is gone, or nothing but its exit status is left of it.
[[nodiscard]] bool has_ended(pid_t process);

}  // namespace rankscope::collectors
