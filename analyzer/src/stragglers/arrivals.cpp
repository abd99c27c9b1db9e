#include "stragglers/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "collectives/comm_ops.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t steps_for_step_arrivals = 20;  // metrics.md 9.4

/// The counted step in which the operation started, on the clock of its first member.
std::optional<std::int64_t> step_of(const Run& run, const StepsSection& steps, const Operation& operation) {
  const Collective& member = run.collectives()[operation.members.front()];
  const std::span<const StepWindow> windows = windows_of(steps, member.rank);
  const auto after = std::ranges::upper_bound(windows, member.started, {},
                                              [](const StepWindow& window) { return window.window.begin; });
  if (after == windows.begin()) return std::nullopt;
  const StepWindow& window = *(after - 1);
  if (!window.window.contains(member.started) || !steps.counted(window.index)) return std::nullopt;
  return window.index;
}

/// The rank for which others waited; none where nobody did, or nothing tells who it was.
RankId late_rank(const Run& run, const Operation& operation) {
  const WaitRule rule = comm_op(run.text(operation.op)).wait;
  const bool rooted = rule == WaitRule::root_is_last || rule == WaitRule::root_waits;
  if (!rooted) return operation.last_rank;
  const std::int64_t peer = run.collectives()[operation.members.front()].peer;
  if (!operation.why_no_wait.empty() || operation.wait_ns == 0 || peer < 0) return RankId::none();
  return rule == WaitRule::root_waits ? operation.last_rank : RankId{static_cast<std::uint32_t>(peer)};
}

}  // namespace

std::int64_t Arrivals::times_last(RankId rank) const { return std::ranges::count(last, rank); }

Arrivals last_arrivals(const Run& run, const StepsSection& steps, const CollectivesSection& collectives) {
  Arrivals arrivals;
  const std::size_t step_count = counted_steps(steps).size();
  arrivals.by_operation = step_count < steps_for_step_arrivals;
  std::map<std::int64_t, const Operation*> longest_wait;
  for (const Operation& operation : collectives.operations) {
    if (operation.members.size() < 2) continue;
    const std::optional<std::int64_t> step = step_of(run, steps, operation);
    if (!step) continue;
    if (arrivals.by_operation) {
      ++arrivals.trials;
      if (const RankId late = late_rank(run, operation); late.is_set()) arrivals.last.push_back(late);
    }
    const Operation*& longest = longest_wait[*step];
    if (longest == nullptr || operation.wait_ns > longest->wait_ns) longest = &operation;
  }
  for (const auto& [step, operation] : longest_wait) {
    const RankId late = late_rank(run, *operation);
    const auto others = static_cast<std::int64_t>(operation->members.size()) - 1;
    arrivals.longest_of_step.push_back({late, operation->wait_ns / others});
    if (late.is_set() && !arrivals.by_operation) arrivals.last.push_back(late);
  }
  if (!arrivals.by_operation) arrivals.trials = static_cast<std::int64_t>(step_count);
  return arrivals;
}

double evenness(const Arrivals& arrivals, std::span<const RankId> ranks) {
  if (ranks.size() < 2 || arrivals.last.empty()) return 0;
  double entropy = 0;
  for (const RankId rank : ranks) {
    const double share = static_cast<double>(arrivals.times_last(rank)) / static_cast<double>(arrivals.last.size());
    if (share > 0) entropy -= share * std::log(share);
  }
  return entropy / std::log(static_cast<double>(ranks.size()));
}

}  // namespace rankscope::analyzer
