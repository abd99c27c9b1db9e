#include "hang/stale_dumps.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "hang/wait_graph.h"

namespace rankscope::analyzer::hang {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::int64_t usual_timeout_ns = 1'800'000'000'000;  // 30 min, as Gloo has it; NCCL has 10 min
constexpr std::size_t compared_operations = 4;

/// The last operation of a group that a rank finished and that no member can finish before all have called it.
const CommCall* last_shared(const JobProgress& job, const GroupProgress& row) {
  const auto found = std::find_if(row.recent.rbegin(), row.recent.rend(), [&job](const CommCall& call) {
    return call.finished && call.sequence >= 0 && needs_everyone(job.texts.text(call.op));
  });
  return found == row.recent.rend() ? nullptr : &*found;
}

std::int64_t wait_limit_ns(const CommCall& call) {
  return call.timeout_ms > 0 ? call.timeout_ms * ns_per_ms : usual_timeout_ns;
}

/// What the dumps that were accepted so far show of a group.
struct GroupSeen {
  std::int64_t finished = -1;                                      ///< by one of them
  std::int64_t called = std::numeric_limits<std::int64_t>::max();  ///< by all of them
  std::int64_t finished_not_before = 0;                            ///< unix ns: all members had called by then
  std::vector<CommCall> calls{};                                   ///< the last ones of the newest dump
};

/// Members that called different operations under one number prove nothing about each other's time.
bool calls_differ(const GroupSeen& seen, const GroupProgress& row) {
  return std::ranges::any_of(seen.calls, [&row](const CommCall& call) {
    const auto own = std::ranges::find(row.recent, call.sequence, &CommCall::sequence);
    return own != row.recent.end() && own->op != call.op;
  });
}

bool contradicts(const JobProgress& job, const RankProgress& rank, const std::vector<GroupSeen>& seen) {
  return std::ranges::any_of(rank.groups, [&](const GroupProgress& row) {
    if (row.entered < 0) return false;
    const GroupSeen& group = seen[row.group];
    const CommCall* const shared = last_shared(job, row);
    const bool too_far = shared != nullptr && shared->sequence > group.called;
    const bool too_short = group.finished > row.entered;
    const bool too_old = rank.last_call_unix_ns > 0 && rank.last_call_unix_ns < group.finished_not_before;
    return (too_far || too_short || too_old) && !calls_differ(group, row);
  });
}

void accept(const JobProgress& job, const RankProgress& rank, std::vector<GroupSeen>& seen) {
  for (const GroupProgress& row : rank.groups) {
    if (row.entered < 0) continue;
    GroupSeen& group = seen[row.group];
    group.called = std::min(group.called, row.entered);
    if (group.calls.empty() && !row.recent.empty())
      group.calls.assign(
          row.recent.end() - static_cast<std::ptrdiff_t>(std::min(row.recent.size(), compared_operations)),
          row.recent.end());
    const CommCall* const shared = last_shared(job, row);
    if (shared == nullptr) continue;
    group.finished = std::max(group.finished, shared->sequence);
    if (shared->created_unix_ns > 0)
      group.finished_not_before = std::max(group.finished_not_before, shared->created_unix_ns - wait_limit_ns(*shared));
  }
}

}  // namespace

void drop_stale_dumps(JobProgress& job) {
  std::vector<std::uint32_t> newest_first;
  for (const auto& [rank, progress] : job.ranks)
    if (progress.witness == Witness::dump) newest_first.push_back(rank);
  std::ranges::stable_sort(newest_first, std::ranges::greater{},
                           [&job](std::uint32_t rank) { return job.ranks.at(rank).last_call_unix_ns; });
  std::vector<GroupSeen> seen(job.groups.size());
  for (const std::uint32_t rank : newest_first) {
    RankProgress& progress = job.ranks.at(rank);
    if (!contradicts(job, progress, seen)) {
      accept(job, progress, seen);
      continue;
    }
    RankProgress nothing{.file = progress.file, .trouble = "is older than those of its peers and was not used"};
    job.troubles.push_back({"dumps_stale", progress.file,
                            "is older than the dumps of its peers: it is from an earlier attempt, or the job continued "
                            "after it was written"});
    progress = std::move(nothing);
  }
}

}  // namespace rankscope::analyzer::hang
