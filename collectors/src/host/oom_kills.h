// How many processes the kernel's out-of-memory killer has ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace rankscope::collectors {

/// Since boot, and since the cgroup was made; unset where the kernel does not say it.
struct OomKills {
  std::optional<std::uint64_t> on_host{};
  std::optional<std::uint64_t> in_cgroup{};  ///< the cgroup of this process
  bool below_too = false;                    ///< version 2: `in_cgroup` includes all cgroups below it
};

/// From /proc/vmstat, and memory.events (version 2) or memory.oom_control (version 1) of the cgroup of this process.
/// `root`: the folder that holds proc and sys.
[[nodiscard]] OomKills oom_kills_so_far(const std::filesystem::path& root);

/// What was added between two readings: "cgroup 2", or else "host 1", unless the cgroup shows that it had no victim;
/// empty: none, or not known.
[[nodiscard]] std::string oom_kills_between(const OomKills& before, const OomKills& after);

}  // namespace rankscope::collectors
