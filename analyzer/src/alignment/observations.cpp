#include "alignment/observations.h"

#include <algorithm>

#include "collectives/comm_ops.h"
#include "collectives/find.h"
#include "collectives/matching.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::clocks {
namespace {

// metrics.md 7.1: the members of a long operation end less together.
constexpr std::int64_t long_bytes = 4'000'000;
constexpr std::size_t enough_short_ones = 40;

bool is_usable(const Run& run, const Operation& operation) {
  if (run.groups()[operation.group.index()].by_ends) return false;  // they would only confirm themselves
  if (operation.sequence == 0 || operation.members.size() < 2 || comm_op(run.text(operation.op)).wait != WaitRule::all)
    return false;
  return std::ranges::all_of(operation.members, [&](std::uint32_t row) {
    const Collective& part = run.collectives()[row];
    return part.state == CommState::finished && std::abs(ns_of(part.started)) < farthest_ns &&
           std::abs(ns_of(part.finished)) < farthest_ns && part.started <= part.finished;
  });
}

/// By group: whether an operation has no sequence number, so that which parts are one is a guess.
std::vector<bool> guessed_groups(const Run& run) {
  std::vector<bool> guessed(run.groups().size());
  for (const Collective& part : run.collectives())
    if (is_shared(run, part) && part.sequence < 0 && !is_point_to_point(run.text(part.op)))
      guessed[part.group.index()] = true;
  return guessed;
}

/// By group: whether it has enough short operations for the long ones to be left out.
std::vector<bool> groups_with_short_ones(const Run& run, std::span<const Operation> operations) {
  std::vector<std::size_t> short_ones(run.groups().size());
  for (const Operation& operation : operations)
    if (operation.bytes <= long_bytes) ++short_ones[operation.group.index()];
  std::vector<bool> enough;
  for (const std::size_t count : short_ones) enough.push_back(count >= enough_short_ones);
  return enough;
}

Part part_of(const Run& run, const Collective& collective) {
  const auto row = std::ranges::lower_bound(run.ranks(), collective.rank) - run.ranks().begin();
  const bool on_device = collective.lane.is_set() && run.lane(collective.lane).kind == LaneKind::stream;
  return {static_cast<std::uint32_t>(row), ns_of(collective.started), ns_of(collective.finished), on_device};
}

}  // namespace

Observations observe(const Run& run) {
  MatchedOperations matched = match_operations(run, ClockTrust{run});
  std::erase_if(matched.operations, [&](const Operation& operation) { return !is_usable(run, operation); });
  Observations all;
  const std::vector<bool> guessed = guessed_groups(run);
  const auto lost =
      std::erase_if(matched.operations, [&](const Operation& operation) { return guessed[operation.group.index()]; });
  all.only_guessed = lost > 0 && matched.operations.empty();
  const std::vector<bool> enough = groups_with_short_ones(run, matched.operations);
  for (const Operation& operation : matched.operations) {
    if (operation.bytes > long_bytes && enough[operation.group.index()]) continue;
    for (const std::uint32_t row : operation.members) all.parts.push_back(part_of(run, run.collectives()[row]));
    all.firsts.push_back(all.parts.size());
  }
  return all;
}

}  // namespace rankscope::analyzer::clocks
