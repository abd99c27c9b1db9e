#include "segment_names.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "host_sampler.h"

namespace rankscope::collectors {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
  return name.data();
}

std::uint64_t start_of(pid_t process) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(process));
  std::array<char, 1024> buffer;
  std::string_view text = ProcFile{path.data()}.read(buffer);
  text.remove_prefix(std::min(text.size(), text.rfind(')') + 1));
  for (int field = 2; field < 22; ++field) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
  std::uint64_t start = 0;
  std::from_chars(text.data(), text.data() + text.size(), start);
  return start;
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
