#include "launch/end_note.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/time_text.h"

namespace rankscope::collectors {
namespace {

constexpr std::string_view sigkill = "SIGKILL";

/// "SIGKILL"; empty for a number that is no signal.
std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? std::string{} : format("SIG{}", name);
}

/// Did the one end before the other started? Then the rank was started again.
bool came_after(const ProcessEnd& end, const ProcessEnd& earlier) {
  return earlier.unix_ns <= end.unix_ns - end.lived.count();
}

/// Loader workers carry the rank of the process that forked them, which started before them and lives on.
const recording::LiveProcess* process_with(std::span<const ProcessEnd> ends, const recording::LiveView& view,
                                           const ProcessEnd& end) {
  const auto own = std::ranges::find(view.processes, end.process.pid, &recording::LiveProcess::pid);
  if (own == view.processes.end() || own->rank < 0) return nullptr;
  for (const recording::LiveProcess& other : view.processes) {
    if (other.rank != own->rank || &other == &*own) continue;
    const auto of_other = std::ranges::find(ends, other.pid, [](const ProcessEnd& one) { return one.process.pid; });
    const bool is_older =
        of_other == ends.end() || (of_other->process.start < end.process.start && !came_after(end, *of_other));
    if (is_older && other.events >= own->events) return nullptr;
  }
  return &*own;
}

/// Empty: it ended as it should.
std::string how_it_ended(const ProcessEnd& end, const recording::LiveProcess& process) {
  if (WIFSIGNALED(end.wait_status)) return format("was killed by {}", signal_name(WTERMSIG(end.wait_status)));
  if (WEXITSTATUS(end.wait_status) != 0) return format("exited with status {}", WEXITSTATUS(end.wait_status));
  return process.ended || process.watched ? "" : "was killed, crashed or called _exit";
}

/// Between the last step that a rank of this host finished and `end`, if it is ten times as long as any of their steps,
/// and 5 s at least; 0 otherwise, or if no steps are known.
nanoseconds long_without_step(const recording::LiveView& view, HostTime end) {
  std::optional<HostTime> last;
  nanoseconds longest{0};
  for (const recording::LiveProcess& process : view.processes)
    for (const recording::LiveStep& step : process.last) {
      last = std::max(last.value_or(HostTime::min()), step.begin + step.duration);
      longest = std::max(longest, step.duration);
    }
  if (!last) return nanoseconds{0};
  const nanoseconds gap = end - *last;
  return gap >= std::chrono::seconds{5} && gap / 10 >= longest ? gap : nanoseconds{0};
}

std::string status_text(int status) {
  const std::string signal = status > 128 ? signal_name(status - 128) : std::string{};
  return format("status {}{}", status, signal.empty() ? "" : format(" ({})", signal));
}

}  // namespace

std::vector<RankEnd> bad_ends(std::span<const ProcessEnd> ends, const recording::LiveView& view,
                              nanoseconds unix_minus_host) {
  std::vector<RankEnd> bad;
  const bool is_whole = view.behind_bytes == 0 && view.left_out == 0;
  for (const ProcessEnd& end : ends) {
    const recording::LiveProcess* const process = process_with(ends, view, end);
    if (process == nullptr) continue;
    RankEnd row{.rank = process->rank, .end = end, .how = how_it_ended(end, *process)};
    if (row.how.empty()) continue;
    if (WIFSIGNALED(end.wait_status)) row.signal = signal_name(WTERMSIG(end.wait_status));
    row.steps = is_whole && !process->last.empty() ? process->steps : 0;
    if (row.steps > 0) row.in_step = process->last.back().index + 1;
    if (is_whole) row.no_step = long_without_step(view, HostTime{nanoseconds{end.unix_ns} - unix_minus_host});
    bad.push_back(std::move(row));
  }
  std::ranges::stable_sort(bad, {}, [](const RankEnd& row) { return row.end.unix_ns; });
  return bad;
}

std::string end_note(int status, std::string_view stopped_by, std::span<const RankEnd> ends,
                     std::string_view oom_kills) {
  if (status == 0) return {};
  if (!stopped_by.empty())
    return format("the command was stopped by {} and ended with {}", stopped_by, status_text(status));
  std::string text = "the command ended with " + status_text(status);
  if (ends.empty()) return text;
  const RankEnd& first = ends.front();
  text +=
      format("; rank {} ended first: it {} {} after it started", first.rank, first.how, duration_text(first.end.lived));
  if (first.steps > 0) text += format(", in step {}", first.in_step);
  text += format(" (pid {} on host {})", first.end.process.pid, host_name());
  if (first.signal == sigkill && !oom_kills.empty()) {
    text += "; meanwhile, the kernel's out-of-memory killer ended processes ";
    text += oom_kills.starts_with("cgroup") ? "of this job" : "on this host";
  }
  if (first.no_step > nanoseconds{0})
    text += format(
        "; before that, no rank had finished a step for {}, so the job may have hung: `rankscope hang` shows "
        "which rank the others waited for",
        duration_text(first.no_step));
  return text;
}

void add_ends(std::span<const RankEnd> ends, std::string_view oom_kills, RecordSummary& summary) {
  auto& metadata = summary.metadata;
  const auto value_of = [&metadata](std::string key) -> std::string& {
    const auto known = std::ranges::find(metadata, key, &std::pair<std::string, std::string>::first);
    return known != metadata.end() ? known->second : metadata.emplace_back(std::move(key), "").second;
  };
  for (const RankEnd& row : ends) {
    if (!row.signal.empty()) value_of(format("{}{}", recording::ended_by_prefix, row.rank)) = row.signal;
    if (row.signal == sigkill && !oom_kills.empty())
      value_of(format("{}{}", recording::oom_kills_prefix, row.rank)) = oom_kills;
    std::string& seen = value_of(format("{}{}", recording::end_seen_prefix, row.rank));
    seen += format("{}{} {} {}", seen.empty() ? "" : ";", row.end.process.pid, row.end.wait_status, row.end.unix_ns);
  }
}

}  // namespace rankscope::collectors
