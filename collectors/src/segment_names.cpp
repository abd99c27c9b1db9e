#include "segment_names.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "host_sampler.h"

namespace rankscope::collectors {
namespace {

/// /proc/PID/stat, by field numbers of proc(5). The program's name, field 2, may hold blanks and brackets.
class StatLine {
 public:
  explicit StatLine(pid_t process) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(process));
    text_ = ProcFile{path.data()}.read(buffer_);
    text_.remove_prefix(std::min(text_.size(), text_.rfind(')') + 1));
  }
  StatLine(const StatLine&) = delete;
  StatLine& operator=(const StatLine&) = delete;
  ~StatLine() = default;
  /// From field 3 on; empty if the process is gone.
  [[nodiscard]] std::string_view field(int number) const {
    std::string_view rest = text_;
    for (int before = 2; before < number; ++before) rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
    return rest.substr(0, rest.find_first_of(" \n"));
  }

 private:
  std::array<char, 1024> buffer_;
  std::string_view text_;
};

std::uint64_t number_from(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
  return name.data();
}

std::uint64_t start_of(pid_t process) { return number_from(StatLine{process}.field(22)); }

// A main thread that has ended is a zombie, too, while other threads go on.
bool has_ended(pid_t process) {
  const StatLine stat{process};
  const std::string_view state = stat.field(3);
  return state.empty() || ((state == "Z" || state == "X") && number_from(stat.field(20)) <= 1);
}

std::string segment_stem(pid_t process) {
  return host_name() + "-" + std::to_string(process) + "-" + std::to_string(start_of(process));
}

std::optional<pid_t> process_of_segment(std::string_view file_name) {
  // The host may hold dashes; after it come PID, START and perhaps the number of an image, then the suffix.
  const std::string host = host_name() + "-";
  if (!file_name.starts_with(host)) return std::nullopt;
  file_name.remove_prefix(host.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(file_name.data(), file_name.data() + file_name.size(), process);
  return error == std::errc{} && end != file_name.data() + file_name.size() && *end == '-' ? std::optional{process}
                                                                                           : std::nullopt;
}

}  // namespace rankscope::collectors
