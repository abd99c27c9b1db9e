#include "host/oom_kills.h"

#include <fstream>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

/// All of the files that are read have a line "oom_kill N".
std::optional<std::uint64_t> count_in(const fs::path& path) {
  constexpr std::string_view key = "oom_kill ";
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return number_from<std::uint64_t>(std::string_view{line}.substr(key.size()));
  return std::nullopt;
}

void read_cgroup(const fs::path& root, OomKills& kills) {
  std::ifstream file{root / "proc/self/cgroup"};
  for (std::string line; std::getline(file, line);) {
    // "0::/slice" of version 2, "4:memory:/slice" of version 1
    const auto controllers = line.find(':');
    const auto path = controllers == std::string::npos ? controllers : line.find(":/", controllers + 1);
    if (path == std::string::npos) continue;
    const std::string of = line.substr(controllers + 1, path - controllers - 1);
    const std::string below = line.substr(path + 2);
    if (of.empty() && !kills.in_cgroup) {
      kills.in_cgroup = count_in(root / "sys/fs/cgroup" / below / "memory.events");
      kills.below_too = kills.in_cgroup.has_value();
    } else if (of == "memory") {
      kills.in_cgroup = count_in(root / "sys/fs/cgroup/memory" / below / "memory.oom_control");
      kills.below_too = false;
    }
  }
}

std::uint64_t added(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after) {
  return before && after && *after > *before ? *after - *before : 0;
}

}  // namespace

OomKills oom_kills_so_far(const fs::path& root) {
  OomKills kills{.on_host = count_in(root / "proc/vmstat")};
  read_cgroup(root, kills);
  return kills;
}

std::string oom_kills_between(const OomKills& before, const OomKills& after) {
  if (const std::uint64_t own = added(before.in_cgroup, after.in_cgroup); own > 0) return format("cgroup {}", own);
  if (before.in_cgroup && after.in_cgroup && after.below_too) return {};
  if (const std::uint64_t all = added(before.on_host, after.on_host); all > 0) return format("host {}", all);
  return {};
}

}  // namespace rankscope::collectors
