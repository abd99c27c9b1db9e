#include "settings/rank_of_process.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace rankscope::collectors {
namespace {

std::string read_file_of(pid_t process, const char* name) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/" + name, std::ios::binary};
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

/// "NAME=VALUE" strings, each with a zero after it. Null if the variable does not exist.
const char* value_in(const std::string& environment, std::string_view name) {
  for (std::size_t at = 0; at < environment.size();) {
    const std::string_view entry{environment.c_str() + at};
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return entry.data() + name.size() + 1;
    at += entry.size() + 1;
  }
  return nullptr;
}

}  // namespace

RankEnvironment rank_of_process(pid_t process, const std::string& rank_env) {
  const std::string environment = read_file_of(process, "environ");
  std::string command_line = read_file_of(process, "cmdline");
  std::ranges::replace(command_line, '\0', ' ');
  return find_rank([&environment](const char* name) { return value_in(environment, name); },
                   {.rank_env = rank_env, .command_line = std::move(command_line)});
}

}  // namespace rankscope::collectors
