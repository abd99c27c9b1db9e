#include "stragglers/more_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "math/statistics.h"
#include "operators/range_walk.h"
#include "rankscope/core/model/run.h"
#include "split/peers.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {
namespace {

constexpr double more_often = 1.25;  // than the peers
constexpr double least_of_a_step = 0.01;
constexpr double least_of_own_lag = 0.25;  // of a rank that is slow all the time
constexpr std::size_t most_peers = 15;     // enough for a median

/// Calls and host time of each operator per counted step.
struct PerStep {
  double calls = 0;
  std::int64_t ns = 0;
};
using Operators = std::map<std::string, PerStep>;

Operators operators_of(const Run& run, RankId rank, const StepsSection& steps) {
  const CountedWindows windows = counted_windows(run, rank, steps);
  Operators operators;
  if (windows.steps <= 0) return operators;
  RangeWalk walk{run, RangeKind::operators};
  const WindowTime window_time{windows};
  for (const Lane& lane : run.lanes())
    if (lane.process == run.process_row_of(rank) && lane.kind == LaneKind::thread) walk.over(lane, window_time, {});
  for (OperatorRow& row : std::move(walk).finish().rows)
    operators[std::move(row.name)] = {static_cast<double>(row.times.calls) / static_cast<double>(windows.steps),
                                      row.times.total_ns / windows.steps};
  return operators;
}

/// The operator with the largest excess among those that the rank calls more often.
std::optional<MoreWork> most_of_it(const Operators& own, std::span<const Operators* const> peers,
                                   std::int64_t least_ns) {
  std::optional<MoreWork> most;
  std::int64_t most_ns = std::max<std::int64_t>(least_ns - 1, 0);
  for (const auto& [name, mine] : own) {
    std::vector<double> calls;
    std::vector<std::int64_t> times;
    for (const Operators* const peer : peers) {
      const auto theirs = peer->find(name);
      calls.push_back(theirs == peer->end() ? 0 : theirs->second.calls);
      times.push_back(theirs == peer->end() ? 0 : theirs->second.ns);
    }
    const double usual = median(calls);
    const std::int64_t usual_ns = median(times);
    if (mine.calls < more_often * usual || mine.ns - usual_ns <= most_ns) continue;
    most_ns = mine.ns - usual_ns;
    most = MoreWork{name, mine.calls, usual, mine.ns, usual_ns};
  }
  return most;
}

std::int64_t least_excess_of(const Straggler& row, const StepsSection& steps) {
  const double of_step = least_of_a_step * static_cast<double>(steps.mean_ns);
  const double of_lag =
      row.persistence == Persistence::persistent ? least_of_own_lag * static_cast<double>(row.lag_ns_per_step) : 0;
  return static_cast<std::int64_t>(std::max(of_step, of_lag));
}

}  // namespace

void add_more_work(const Run& run, const StepsSection& steps, std::span<const RankRow> rows,
                   StragglersSection& section) {
  std::vector<PeerClass> classes;
  std::map<RankId, Operators> known;
  const auto of_rank = [&](RankId rank) -> const Operators& {
    const auto [found, is_new] = known.try_emplace(rank);
    if (is_new) found->second = operators_of(run, rank, steps);
    return found->second;
  };
  for (Straggler& row : section.rows) {
    if (row.kind != StragglerKind::compute && row.kind != StragglerKind::mixed) continue;
    // The time of an operator on the host of an accelerator may be waiting for the device.
    if (row.device || run.has_accelerator(row.rank)) continue;
    if (classes.empty()) classes = peer_classes(run, steps, rows);
    const PeerClass* const peers = class_of(classes, row.rank);
    if (peers == nullptr) continue;
    std::vector<const Operators*> others;
    for (const RankRow* peer : peers->rows)
      if (peer->rank != row.rank && others.size() < most_peers) others.push_back(&of_rank(peer->rank));
    if (!others.empty()) row.more_work = most_of_it(of_rank(row.rank), others, least_excess_of(row, steps));
  }
}

}  // namespace rankscope::analyzer
