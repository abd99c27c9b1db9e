#include "collectives/comm_frontier.h"

#include <algorithm>

#include "collectives/comm_ops.h"
#include "collectives/find.h"

namespace rankscope::analyzer {
namespace {

/// The rows of one group, by (rank, sequence) as Run sorts them.
struct GroupProgress {
  std::vector<std::vector<const Collective*>> started;  // per present rank, in order
};

std::size_t place_of(const Run& run, RankId rank) {
  return static_cast<std::size_t>(std::ranges::lower_bound(run.ranks(), rank) - run.ranks().begin());
}

std::vector<GroupProgress> progress(const Run& run, std::vector<Frontier>& frontiers) {
  std::vector<GroupProgress> groups(run.groups().size());
  for (GroupProgress& group : groups) group.started.resize(run.ranks().size());
  for (const Collective& collective : run.collectives()) {
    if (!collective.rank.is_set() || !is_shared(run, collective)) continue;
    if (is_point_to_point(run.text(collective.op))) continue;
    const std::size_t place = place_of(run, collective.rank);
    if (collective.state != CommState::finished) ++frontiers[place].unfinished;
    if (collective.state != CommState::enqueued) groups[collective.group.index()].started[place].push_back(&collective);
  }
  return groups;
}

/// The peers' start of the first operation that a rank with `done` started ones has missed.
std::optional<MissedOperation> first_missed(const GroupProgress& group, std::size_t done) {
  std::optional<MissedOperation> first;
  for (const auto& started : group.started) {
    if (started.size() <= done) continue;
    const Collective& next = *started[done];
    if (!first || next.started < first->started) first = MissedOperation{next.rank, next.started};
  }
  return first;
}

void compare(const Run& run, const Group& members, const GroupProgress& group, std::vector<Frontier>& frontiers) {
  std::size_t farthest = 0;
  for (const auto& started : group.started) farthest = std::max(farthest, started.size());
  for (std::size_t place = 0; place < frontiers.size(); ++place) {
    const std::size_t done = group.started[place].size();
    if (std::ranges::find(members.members, run.ranks()[place]) == members.members.end() || done == farthest) continue;
    Frontier& own = frontiers[place];
    own.missed += static_cast<std::int64_t>(farthest - done);
    const std::optional<MissedOperation> missed = first_missed(group, done);
    if (missed && (!own.first || missed->started < own.first->started)) own.first = missed;
  }
}

}  // namespace

std::vector<Frontier> comm_frontiers(const Run& run) {
  std::vector<Frontier> frontiers;
  for (const RankId rank : run.ranks()) {
    frontiers.emplace_back();
    frontiers.back().rank = rank;
  }
  const std::vector<GroupProgress> groups = progress(run, frontiers);
  for (std::size_t i = 0; i < groups.size(); ++i) compare(run, run.groups()[i], groups[i], frontiers);
  return frontiers;
}

}  // namespace rankscope::analyzer
