#include "alignment/crossings.h"

#include <algorithm>

#include "alignment/observations.h"
#include "collectives/comm_ops.h"
#include "collectives/find.h"
#include "collectives/matching.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::clocks {
namespace {

struct Role {
  bool is_waited_for = false;
  bool waits = false;
};

Role role_of(const Run& run, const Collective& part) {
  const bool is_root = part.peer == static_cast<std::int64_t>(part.rank.value);
  switch (comm_op(run.text(part.op)).wait) {
    case WaitRule::all:
      return {true, true};
    case WaitRule::root_is_last:
      return {is_root, !is_root && part.peer >= 0};
    case WaitRule::root_waits:
      return {!is_root && part.peer >= 0, is_root};
    case WaitRule::pair:
      return {is_send(run.text(part.op)), !is_send(run.text(part.op))};
    case WaitRule::unknown:
      break;
  }
  return {};
}

bool has_plausible_times(const Collective& part) {
  return part.state == CommState::finished && std::abs(ns_of(part.started)) < farthest_ns &&
         std::abs(ns_of(part.finished)) < farthest_ns && part.started <= part.finished;
}

/// Collectives that were found by ends that agree say nothing about clocks. Pairs do: they must fit in both directions.
bool confirms_itself(const Run& run, const Operation& operation) {
  return run.groups()[operation.group.index()].by_ends && !is_point_to_point(run.text(operation.op));
}

Crossing crossing_of(const Run& run, const Operation& operation) {
  Crossing crossing{.entries = {}, .exits = {}, .ends_together = comm_op(run.text(operation.op)).wait == WaitRule::all};
  for (const std::uint32_t row : operation.members) {
    const Collective& part = run.collectives()[row];
    if (!has_plausible_times(part)) return {};
    const auto rank_row = static_cast<std::uint32_t>(run.place_of(part.rank));
    const Role role = role_of(run, part);
    if (role.is_waited_for) crossing.entries.push_back({rank_row, ns_of(part.started)});
    if (role.waits) crossing.exits.push_back({rank_row, ns_of(part.finished)});
  }
  return crossing;
}

}  // namespace

std::int64_t Crossing::last_entry_ns() const { return std::ranges::max(entries, {}, &ShownTime::ns).ns; }

std::vector<Crossing> crossings_of(const Run& run) {
  std::vector<Crossing> crossings;
  for (const Operation& operation : match_operations(run, ClockTrust{run}).operations) {
    if (operation.members.size() < 2 || confirms_itself(run, operation)) continue;
    Crossing crossing = crossing_of(run, operation);
    if (!crossing.entries.empty() && !crossing.exits.empty()) crossings.push_back(std::move(crossing));
  }
  std::ranges::stable_sort(crossings, {}, &Crossing::last_entry_ns);
  return crossings;
}

}  // namespace rankscope::analyzer::clocks
