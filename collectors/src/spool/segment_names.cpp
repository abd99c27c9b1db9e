#include "spool/segment_names.h"

#include <unistd.h>

#include <array>

#include "rankscope/core/numbers.h"
#include "rankscope/core/process_stat.h"

namespace rankscope::collectors {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
  return name.data();
}

std::uint64_t start_of(pid_t process) {
  const auto stat = process_stat(process);
  return stat ? stat->start_ticks_of_boot : 0;
}

// A main thread that has ended is a zombie, too, while other threads go on.
bool has_ended(pid_t process) {
  const auto stat = process_stat(process);
  return !stat || ((stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1);
}

std::string segment_stem(pid_t process) {
  return host_name() + "-" + std::to_string(process) + "-" + std::to_string(start_of(process));
}

std::optional<ProcessKey> process_of_segment(std::string_view file_name) {
  // The host may hold dashes; after it come PID, START and perhaps the number of an image, then the suffix.
  const std::string host = host_name() + "-";
  if (!file_name.starts_with(host)) return std::nullopt;
  file_name.remove_prefix(host.size());
  const auto process = take_number<pid_t>(file_name);
  if (!process || !file_name.starts_with('-')) return std::nullopt;
  file_name.remove_prefix(1);
  const auto start = take_number<std::uint64_t>(file_name);
  if (!start) return std::nullopt;
  return ProcessKey{*process, *start};
}

}  // namespace rankscope::collectors
