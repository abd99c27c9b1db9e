#include "hang/wait_graph.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "hang/components.h"

namespace rankscope::analyzer::hang {
namespace {

/// The member's call of a collective as far as it is remembered.
bool has_finished(const RankProgress& progress, std::uint32_t group, std::int64_t sequence) {
  const GroupProgress* const row = progress.in_group(group);
  return row != nullptr && row->finished >= sequence;
}

bool has_called(const RankProgress& progress, std::uint32_t group, std::int64_t sequence) {
  const GroupProgress* const row = progress.in_group(group);
  return row != nullptr && row->entered >= sequence;
}

constexpr std::size_t most_blocked_collectives = 16;  // made as one: the others have the same members or tell no more

/// Calls of a rank with one partner that are not finished, before this one.
std::int64_t open_before(const RankProgress& progress, const CommCall& call) {
  std::int64_t before = 0;
  for (const CommCall& other : progress.open) {
    if (&other == &call) break;
    if (other.group == call.group && other.way == call.way && other.peer == call.peer) ++before;
  }
  return before;
}

/// A rank is blocked in the first of its open calls: the later ones were only enqueued behind it. Calls that were made
/// as one are blocked together.
std::size_t blocked_calls(const RankProgress& progress) {
  std::size_t count = 0;
  std::size_t collectives = 0;
  for (const CommCall& call : progress.open) {
    if (count > 0 && (call.batch == 0 || call.batch != progress.open.front().batch)) break;
    if (call.way == CallWay::collective && ++collectives > most_blocked_collectives) break;
    ++count;
  }
  return count;
}

}  // namespace

bool needs_everyone(std::string_view op) {
  static constexpr std::array<std::string_view, 7> beginnings{"all_reduce",     "allreduce",  "all_gather", "allgather",
                                                              "reduce_scatter", "all_to_all", "alltoall"};
  if (op.starts_with('_')) op.remove_prefix(1);
  if (op == "barrier" || op.starts_with("AllReduce") || op.starts_with("AllGather") || op.starts_with("ReduceScatter"))
    return true;
  return std::ranges::any_of(beginnings, [op](std::string_view beginning) { return op.starts_with(beginning); });
}

bool has_ended(const RankProgress& progress) {
  switch (progress.end.life) {
    case Life::exited:
    case Life::signalled:
    case Life::vanished:
      return true;
    case Life::unknown:
    case Life::running:
      return false;
  }
  return false;
}

WaitGraph::WaitGraph(const JobProgress& job) : job_(job) {
  find_behind();
  find_heads();
  for (std::uint32_t row = 0; row < operations_.size(); ++row) {
    operations_[row].call.way == CallWay::collective ? find_blockers(operations_[row])
                                                     : find_pair_blocker(keys_[row], operations_[row]);
    for (const Blocker& blocker : operations_[row].blockers) blocks_[blocker.rank].push_back(row);
  }
  find_roots();
}

const RankProgress* WaitGraph::progress_of(std::uint32_t rank) const {
  const auto found = job_.ranks.find(rank);
  return found == job_.ranks.end() ? nullptr : &found->second;
}

// What a peer finished needs nobody any more: who has not finished it is held up by itself.
void WaitGraph::find_behind() {
  std::vector<std::int64_t> farthest(job_.groups.size(), -1);
  std::vector<bool> lost_a_member(job_.groups.size());  // part of an operation may have been done when it died
  for (const auto& [rank, progress] : job_.ranks) {
    if (progress.witness == Witness::ras) continue;
    for (const GroupProgress& row : progress.groups) {
      farthest[row.group] = std::max(farthest[row.group], row.finished);
      if (has_ended(progress)) lost_a_member[row.group] = true;
    }
  }
  for (const auto& [rank, progress] : job_.ranks) {
    const bool behind = std::ranges::any_of(progress.open, [&](const CommCall& call) {
      return call.way == CallWay::collective && needs_everyone(job_.texts.text(call.op)) && call.sequence >= 0 &&
             farthest[call.group] >= call.sequence && !lost_a_member[call.group] && a_peer_finished(call);
    });
    if (behind) behind_.push_back(rank);
  }
}

/// A peer that called something else under the same number proves nothing.
bool WaitGraph::a_peer_finished(const CommCall& call) const {
  return std::ranges::any_of(job_.groups[call.group].members, [&](std::uint32_t rank) {
    const RankProgress* const progress = progress_of(rank);
    const GroupProgress* const row = progress == nullptr ? nullptr : progress->in_group(call.group);
    if (row == nullptr || row->finished < call.sequence) return false;
    const auto own = std::ranges::find(row->recent, call.sequence, &CommCall::sequence);
    return own == row->recent.end() || own->op == call.op;
  });
}

bool WaitGraph::is_behind_its_peers(std::uint32_t rank) const { return std::ranges::binary_search(behind_, rank); }

WaitGraph::Key WaitGraph::key_of(std::uint32_t rank, const RankProgress& progress, const CommCall& call) const {
  if (call.way == CallWay::collective) return {call.group, call.sequence, -1, -1, -1};
  const RankProgress* const partner = call.peer < 0 ? nullptr : progress_of(static_cast<std::uint32_t>(call.peer));
  std::int64_t number = open_before(progress, call);
  // Finished ones count only where both sides remember all of them.
  if (partner != nullptr && partner->whole_history && progress.whole_history)
    if (const PairProgress* const pair = progress.pair(call.group, call.way, call.peer)) number += pair->finished;
  const bool sends = call.way == CallWay::send;
  const std::int64_t own = rank;
  const std::int64_t other = call.peer;
  return {call.group, -1, sends ? own : other, sends ? other : own, number};
}

void WaitGraph::find_heads() {
  for (const auto& [rank, progress] : job_.ranks) {
    if (has_ended(progress) || is_behind_its_peers(rank)) continue;
    for (std::size_t i = 0; i < blocked_calls(progress); ++i) {
      const CommCall& call = progress.open[i];
      const Key key = key_of(rank, progress, call);
      const auto [entry, added] = row_of_.try_emplace(key, static_cast<std::uint32_t>(operations_.size()));
      if (added) {
        operations_.push_back({.call = call});
        keys_.push_back(key);
      }
      std::vector<std::uint32_t>& waiting = operations_[entry->second].waiting;
      if (!waiting.empty() && waiting.back() == rank) continue;  // collectives that were made as one have one number
      waiting.push_back(rank);
      blocked_in_[rank].push_back(entry->second);
    }
  }
}

bool WaitGraph::is_blocked_in(std::uint32_t rank, std::uint32_t operation) const {
  const auto found = blocked_in_.find(rank);
  return found != blocked_in_.end() && std::ranges::find(found->second, operation) != found->second.end();
}

void WaitGraph::find_blockers(WaitedOperation& operation) {
  const CommCall& call = operation.call;
  const auto row = static_cast<std::uint32_t>(&operation - operations_.data());
  operation.members = job_.groups[call.group].members;
  std::ranges::sort(operation.members);
  for (const std::uint32_t rank : operation.members) {
    const RankProgress* const progress = progress_of(rank);
    if (progress != nullptr && has_finished(*progress, call.group, call.sequence)) operation.finished.push_back(rank);
  }
  const bool everyone_came = !operation.finished.empty() && needs_everyone(job_.texts.text(call.op));
  for (const std::uint32_t rank : operation.members) {
    const RankProgress* const progress = progress_of(rank);
    if (is_blocked_in(rank, row) || std::ranges::binary_search(operation.finished, rank)) continue;
    if (progress != nullptr && has_ended(*progress)) {
      operation.blockers.push_back({rank, Blocks::dead});
    } else if (progress == nullptr || progress->witness == Witness::nothing) {
      if (!everyone_came) operation.blockers.push_back({rank, Blocks::unknown});
    } else if (!has_called(*progress, call.group, call.sequence)) {
      if (!everyone_came) operation.blockers.push_back({rank, Blocks::absent});
    } else {
      operation.blockers.push_back({rank, Blocks::behind});
    }
  }
}

void WaitGraph::find_pair_blocker(const Key& key, WaitedOperation& operation) {
  const auto [group, sequence, sender, receiver, number] = key;
  const auto row = static_cast<std::uint32_t>(&operation - operations_.data());
  for (const std::int64_t rank : {sender, receiver})
    if (rank >= 0) operation.members.push_back(static_cast<std::uint32_t>(rank));
  for (const std::uint32_t rank : operation.members) {
    if (is_blocked_in(rank, row)) continue;
    const RankProgress* const progress = progress_of(rank);
    if (progress != nullptr && has_ended(*progress)) {
      operation.blockers.push_back({rank, Blocks::dead});
    } else if (progress == nullptr || progress->witness == Witness::nothing || progress->witness == Witness::ras) {
      operation.blockers.push_back({rank, Blocks::unknown});
    } else {
      const bool called = std::ranges::any_of(progress->open, [&](const CommCall& call) {
        return call.way != CallWay::collective && key_of(rank, *progress, call) == key;
      });
      const CallWay way = rank == sender ? CallWay::send : CallWay::receive;
      const PairProgress* const pair =
          progress->pair(group, way, static_cast<std::int32_t>(rank == sender ? receiver : sender));
      const RankProgress* const other = progress_of(operation.waiting.front());
      const bool counted = progress->whole_history && other != nullptr && other->whole_history;
      if (!called && counted && pair != nullptr && pair->finished > number) {
        operation.finished.push_back(rank);
        continue;
      }
      operation.blockers.push_back({rank, called ? Blocks::behind : Blocks::absent});
    }
  }
}

// Nodes: first all operations, then all ranks that wait or block.
void WaitGraph::find_roots() {
  std::map<std::uint32_t, std::uint32_t> node_of;
  std::vector<std::uint32_t> ranks;
  const auto node = [&](std::uint32_t rank) {
    const auto next = static_cast<std::uint32_t>(operations_.size() + ranks.size());
    const auto [entry, added] = node_of.try_emplace(rank, next);
    if (added) ranks.push_back(rank);
    return entry->second;
  };
  for (const auto& [rank, rows] : blocked_in_) node(rank);
  for (const auto& [rank, rows] : blocks_) node(rank);
  Edges edges(operations_.size() + ranks.size());
  for (const auto& [rank, rows] : blocked_in_) edges[node(rank)] = rows;
  for (std::uint32_t row = 0; row < operations_.size(); ++row)
    for (const Blocker& blocker : operations_[row].blockers) edges[row].push_back(node(blocker.rank));
  const std::vector<std::uint32_t> component = components_of(edges);
  std::uint32_t count = 0;
  for (const std::uint32_t number : component) count = std::max(count, number + 1);
  std::vector<bool> leads_away(count);
  for (std::uint32_t from = 0; from < edges.size(); ++from)
    for (const std::uint32_t to : edges[from])
      if (component[from] != component[to]) leads_away[component[from]] = true;
  std::map<std::uint32_t, WaitRoot> found;
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    if (leads_away[component[i]]) continue;
    WaitRoot& root = found[component[i]];
    i < operations_.size() ? root.operations.push_back(i) : root.ranks.push_back(ranks[i - operations_.size()]);
  }
  for (auto& [number, root] : found) {
    std::ranges::sort(root.ranks);
    roots_.push_back(std::move(root));
  }
}

bool WaitGraph::may_be_blocked_later(std::uint32_t rank) const {
  const RankProgress* const progress = progress_of(rank);
  if (progress == nullptr || progress->open.empty()) return false;
  const CommCall& head = progress->open.front();
  const bool posted = head.way != CallWay::collective && head.batch == 0;
  return posted && progress->open.size() + progress->open_left_out > 1;
}

bool WaitGraph::was_called_by_all(const WaitedOperation& operation) const {
  return operation.call.way == CallWay::collective &&
         std::ranges::all_of(operation.blockers, [this](const Blocker& blocker) {
           return blocker.how == Blocks::behind && may_be_blocked_later(blocker.rank);
         });
}

const WaitedOperation* WaitGraph::most_waited_for(std::uint32_t rank) const {
  const auto found = blocks_.find(rank);
  if (found == blocks_.end()) return nullptr;
  const WaitedOperation* most = nullptr;
  for (const std::uint32_t row : found->second)
    if (most == nullptr || operations_[row].waiting.size() > most->waiting.size()) most = &operations_[row];
  return most;
}

bool WaitGraph::all_others_wait(const WaitedOperation& operation) const {
  return operation.waiting.size() < job_.ranks.size() &&
         std::ranges::all_of(job_.ranks, [&](const auto& row) { return blocked_in_.contains(row.first); });
}

}  // namespace rankscope::analyzer::hang
