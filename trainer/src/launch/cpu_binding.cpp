#include "rankscope/trainer/launch/cpu_binding.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

std::string text_of(std::span<const int> cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += format("{}{}", text.empty() ? "" : ",", cores[i]);
    if (last > i) text += format("-{}", cores[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

Result<std::vector<int>> cores_of(std::span<const int> allowed, const CoreShare& share) {
  const auto each = static_cast<int>(allowed.size()) / share.ranks;
  if (each < share.threads) {
    return fail(
        ErrorKind::usage,
        format("--bind-cpus: {} x {} need one core per thread, but only {} can be used here ({}); use fewer ranks, or "
               "omit --bind-cpus if the launcher binds ranks itself (srun --cpu-bind)",
               counted(share.ranks, "rank"), counted(share.threads, "thread"), allowed.size(), text_of(allowed)));
  }
  const auto own = allowed.subspan(static_cast<std::size_t>(share.rank * each), static_cast<std::size_t>(each));
  return std::vector<int>{own.begin(), own.end()};
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  return cores;
}

std::size_t online_cores() { return static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

Result<std::string> bind_to_cores(const CoreShare& share) {
  RS_TRY(const std::vector<int> cores, cores_of(allowed_cores(), share));
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    return fail(ErrorKind::cannot_write, format("--bind-cpus: rank {} cannot be bound to cores {}: {}", share.rank,
                                                text_of(cores), std::strerror(errno)));
  }
  return text_of(cores);
}

}  // namespace rankscope::trainer
