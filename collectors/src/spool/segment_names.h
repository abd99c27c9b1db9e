// Names of segment files: HOST-PID-START.rseg, START being field 22 of /proc/PID/stat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace rankscope::collectors {

[[nodiscard]] std::string host_name();
/// HOST-PID-START of a running process.
[[nodiscard]] std::string segment_stem(pid_t process);
/// The pid in the name of a segment file, or nothing.
[[nodiscard]] std::optional<pid_t> process_of_segment(std::string_view file_name);
/// Moment a process started, in clock ticks since boot; 0 if it is gone.
[[nodiscard]] std::uint64_t start_of(pid_t process);
/// True if the process is gone, or nothing but its exit status is left of it.
[[nodiscard]] bool has_ended(pid_t process);

}  // namespace rankscope::collectors
