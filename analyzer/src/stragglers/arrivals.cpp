#include "stragglers/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "collectives/comm_ops.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t steps_for_step_arrivals = 20;  // metrics.md 9.4

/// The counted step in which the operation started, on the clock of its first member.
std::optional<std::int64_t> step_of(const Run& run, const StepsSection& steps, const Unit& unit) {
  const Collective& member = run.collectives()[unit.members.front()];
  const std::span<const StepWindow> windows = windows_of(steps, member.rank);
  const auto after = std::ranges::upper_bound(windows, member.started, {},
                                              [](const StepWindow& window) { return window.window.begin; });
  if (after == windows.begin()) return std::nullopt;
  const StepWindow& window = *(after - 1);
  if (!window.window.contains(member.started) || !steps.counted(window.index)) return std::nullopt;
  return window.index;
}

/// The rank for which others waited; none where nobody did, or nothing tells who it was.
RankId late_rank(const Run& run, const Unit& unit) {
  const WaitRule rule = comm_op(run.text(unit.op)).wait;
  const bool rooted = rule == WaitRule::root_is_awaited || rule == WaitRule::root_waits;
  if (!rooted) return unit.last_rank;
  const std::int64_t peer = run.collectives()[unit.members.front()].peer;
  if (!unit.why_no_wait.empty() || unit.wait_ns == 0 || peer < 0) return RankId::none();
  return rule == WaitRule::root_waits ? unit.last_rank : RankId{static_cast<std::uint32_t>(peer)};
}

}  // namespace

std::int64_t Arrivals::times_last(RankId rank) const { return std::ranges::count(last, rank); }

Arrivals last_arrivals(const Run& run, const StepsSection& steps, const CollectivesSection& collectives) {
  Arrivals arrivals;
  const std::size_t step_count = counted_steps(steps).size();
  arrivals.by_unit = step_count < steps_for_step_arrivals;
  std::map<std::int64_t, const Unit*> longest_wait;
  for (const Unit& unit : collectives.units) {
    if (unit.members.size() < 2) continue;
    const std::optional<std::int64_t> step = step_of(run, steps, unit);
    if (!step) continue;
    if (arrivals.by_unit) {
      ++arrivals.trials;
      if (const RankId late = late_rank(run, unit); late.is_set()) arrivals.last.push_back(late);
      continue;
    }
    const Unit*& longest = longest_wait[*step];
    if (longest == nullptr || unit.wait_ns > longest->wait_ns) longest = &unit;
  }
  for (const auto& [step, unit] : longest_wait) {
    if (const RankId late = late_rank(run, *unit); late.is_set()) arrivals.last.push_back(late);
  }
  if (!arrivals.by_unit) arrivals.trials = static_cast<std::int64_t>(step_count);
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
