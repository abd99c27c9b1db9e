#include "rankscope/core/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "rankscope/core/numbers.h"

namespace rankscope {

namespace {

/// Moves on by so many fields; false if there are fewer.
bool skip_fields(std::string_view& text, int fields) {
  for (; fields > 0; --fields) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return false;
    text.remove_prefix(blank + 1);
  }
  return true;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // Fields count from the last ')' on: the program's name may hold blanks and brackets.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  text.remove_prefix(name_end + 2);
  ProcessStat stat;
  stat.state = text.front();  // field 3
  if (!skip_fields(text, 20 - 3)) return std::nullopt;
  stat.threads = leading_number<std::int64_t>(text).value_or(0);
  if (!skip_fields(text, 22 - 20)) return std::nullopt;
  const auto start = leading_number<std::uint64_t>(text);
  if (!start) return std::nullopt;
  stat.start_ticks_of_boot = *start;
  if (skip_fields(text, 52 - 22)) stat.wait_status = leading_number<int>(text).value_or(0);
  return stat;
}

std::optional<ProcessStat> process_stat(pid_t process) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(process));
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> text;
  ssize_t length = -1;
  do {
    length = read(file, text.data(), text.size());
  } while (length < 0 && errno == EINTR);
  close(file);
  if (length <= 0) return std::nullopt;
  return parse_process_stat({text.data(), static_cast<std::size_t>(length)});
}

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  file >> id;
  return id;
}

}  // namespace rankscope
