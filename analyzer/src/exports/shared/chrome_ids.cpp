#include "exports/shared/chrome_ids.h"

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

bool stands_for_its_rank(const Run& run, const Process& process) {
  return process.rank.is_set() && &run.process_of(process.rank) == &process;
}

}  // namespace

ChromeIds::ChromeIds(const Run& run) : pids_(run.processes().size()), used_rows_(run.processes().size()) {
  std::int64_t next = run.ranks().empty() ? 1 : std::int64_t{run.ranks().back().value} + 2;
  for (std::size_t row = 0; row < pids_.size(); ++row) {
    const auto& process = run.processes()[row];
    pids_[row] = stands_for_its_rank(run, process) ? std::int64_t{process.rank.value} + 1 : next++;
  }
  overflow_ = next * rows_per_process;
}

std::int64_t ChromeIds::next_tid(std::uint32_t process) {
  const auto row = used_rows_[process]++;
  return row < rows_per_process ? pids_[process] * rows_per_process + row : overflow_++;
}

std::string process_title(const Run& run, const Process& process) {
  const auto host = run.text(process.host);
  const auto program = run.text(process.program);
  if (stands_for_its_rank(run, process)) {
    return format("rank {}{}", process.rank.value, host.empty() ? "" : format(" ({})", host));
  }
  if (process.pid == Process::no_pid) return std::string{program};
  const auto place = host.empty() ? format("pid {}", process.pid) : format("pid {} on {}", process.pid, host);
  if (process.rank.is_set()) return format("rank {}: {} ({})", process.rank.value, program, place);
  return format("{} ({})", program.empty() ? "process" : program, place);
}

}  // namespace rankscope::analyzer
