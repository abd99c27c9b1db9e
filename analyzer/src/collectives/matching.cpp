#include "collectives/matching.h"

#include <algorithm>
#include <tuple>

#include "collectives/call_order.h"
#include "collectives/comm_ops.h"
#include "collectives/find.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// A row with the key that its partners share: K0 (group, sequence), or (source, destination, k) for send and receive.
struct Keyed {
  GroupId group;
  std::int64_t source = -1;  // of send/receive; -1 for collectives
  std::int64_t destination = -1;
  std::int64_t sequence = -1;
  RankId rank;
  bool sends = false;
  std::uint32_t row = 0;

  [[nodiscard]] auto operation_key() const { return std::tuple(group, source, destination, sequence); }
  [[nodiscard]] auto order() const { return std::tuple(group, source, destination, sequence, sends, rank, row); }
};

/// Rows of one rank and group, in issue order.
using Rows = std::span<const Collective>;

/// Numbers the collectives of one rank in one group.
void key_collectives(const Run& run, Rows rows, const CallOrder& calls, std::vector<Keyed>& out, bool& by_call_order) {
  for (const Collective& collective : rows) {
    if (is_point_to_point(run.text(collective.op))) continue;
    const auto row = static_cast<std::uint32_t>(&collective - run.collectives().data());
    by_call_order = by_call_order || collective.sequence < 0;
    const std::int64_t sequence = collective.sequence < 0 ? calls.number_of(row) : collective.sequence;
    out.push_back({collective.group, -1, -1, sequence, collective.rank, false, row});
  }
}

/// Numbers the k-th send to, and the k-th receive from, each partner.
void key_pairs(const Run& run, Rows rows, std::vector<Keyed>& out) {
  const std::size_t first = out.size();
  for (const Collective& collective : rows) {
    if (!is_point_to_point(run.text(collective.op))) continue;
    const auto row = static_cast<std::uint32_t>(&collective - run.collectives().data());
    const bool sends = is_send(run.text(collective.op));
    const auto own = static_cast<std::int64_t>(collective.rank.value);
    out.push_back({collective.group, sends ? own : collective.peer, sends ? collective.peer : own, 0, collective.rank,
                   sends, row});
  }
  const auto added = std::span(out).subspan(first);
  std::ranges::stable_sort(added, {},
                           [](const Keyed& keyed) { return std::tuple(keyed.source, keyed.destination, keyed.sends); });
  for (std::size_t i = 1; i < added.size(); ++i) {
    const bool same = added[i].source == added[i - 1].source && added[i].destination == added[i - 1].destination &&
                      added[i].sends == added[i - 1].sends;
    added[i].sequence = same ? added[i - 1].sequence + 1 : 0;
  }
}

/// How the rows of one group were found that the recording does not name.
void note_how(const Run& run, const Collective& row, MatchedOperations& out) {
  if (!run.groups()[row.group.index()].by_ends) return;
  (is_point_to_point(run.text(row.op)) ? out.pairs_by_times : out.by_ends) = true;
}

std::vector<Keyed> key_all(const Run& run, const CallOrder& calls, MatchedOperations& out) {
  std::vector<Keyed> keyed;
  const std::span<const Collective> all = run.collectives();
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].rank == all[begin].rank && all[end].group == all[begin].group) ++end;
    if (is_shared(run, all[begin])) {
      note_how(run, all[begin], out);
      key_collectives(run, all.subspan(begin, end - begin), calls, keyed, out.by_call_order);
      key_pairs(run, all.subspan(begin, end - begin), keyed);
    }
    begin = end;
  }
  std::ranges::sort(keyed, {}, &Keyed::order);
  return keyed;
}

bool agree(const Run& run, const Collective& a, const Collective& b) {
  const CommOp& op = comm_op(run.text(a.op));
  if (op.wait == WaitRule::pair) return a.bytes < 0 || b.bytes < 0 || a.bytes == b.bytes;
  const bool same_bytes = !op.same_bytes || a.bytes < 0 || b.bytes < 0 || a.bytes == b.bytes;
  const bool same_type = run.text(a.dtype).empty() || run.text(b.dtype).empty() || a.dtype == b.dtype;
  const bool rooted = op.wait == WaitRule::root_is_last || op.wait == WaitRule::root_waits;
  const bool same_root = !rooted || a.peer < 0 || b.peer < 0 || a.peer == b.peer;
  return a.op == b.op && same_bytes && same_type && same_root;
}

std::string describe(const Run& run, std::span<const Keyed> members) {
  std::string text;
  const Collective* previous = nullptr;
  for (const Keyed& member : members) {
    const Collective& collective = run.collectives()[member.row];
    if (previous != nullptr && agree(run, *previous, collective)) continue;
    previous = &collective;
    const std::string_view dtype = run.text(collective.dtype);
    text += format("{}rank {}: {}, {} bytes{}{}", text.empty() ? "" : "; ", collective.rank.value,
                   run.text(collective.op), collective.bytes, dtype.empty() ? "" : ", ", dtype);
  }
  return text;
}

/// Drops what a rank says twice under one key (a restart): the first counts.
std::vector<Keyed> once_per_rank(std::span<const Keyed> members) {
  std::vector<Keyed> once;
  for (const Keyed& member : members) {
    const bool again = !once.empty() && once.back().rank == member.rank && once.back().sends == member.sends;
    if (!again) once.push_back(member);
  }
  return once;
}

Operation operation_of(const Run& run, std::span<const Keyed> members) {
  const Collective& first = run.collectives()[members.front().row];
  const Group& group = run.groups()[first.group.index()];
  const bool pair = members.front().source >= 0 || members.front().destination >= 0;
  Operation operation;
  operation.group = first.group;
  operation.op = first.op;
  operation.sequence = members.front().sequence;
  std::int64_t bytes = -1;
  std::size_t finished = 0;
  for (const Keyed& member : members) {
    const Collective& collective = run.collectives()[member.row];
    bytes = std::max(bytes, collective.bytes);
    if (collective.state == CommState::enqueued) continue;
    if (collective.state == CommState::finished) ++finished;
    operation.members.push_back(member.row);
  }
  std::ranges::sort(operation.members, {}, [&](std::uint32_t row) { return run.collectives()[row].rank; });
  const auto payload = payload_bytes(comm_op(run.text(operation.op)), bytes, group.members.size());
  operation.bytes = payload.value_or(-1);
  operation.bytes_too_large = !payload;
  operation.complete = finished == (pair ? 2 : group.members.size()) && finished == operation.members.size();
  return operation;
}

void add_desync(const Run& run, std::span<const Keyed> members, MatchedOperations& out) {
  ++out.desynced_operations;
  for (const Keyed& member : members) out.desynced_rows.push_back(member.row);
  const GroupId group = members.front().group;
  if (!out.desyncs.empty() && out.desyncs.back().group == group) return;
  out.desyncs.push_back({group, members.front().sequence, describe(run, members)});
}

}  // namespace

MatchedOperations match_operations(const Run& run, const ClockTrust& clocks) {
  MatchedOperations out;
  const CallOrder calls{run, clocks};
  out.in_steps = calls.in_steps();
  const std::vector<Keyed> keyed = key_all(run, calls, out);
  out.rows = keyed.size();
  for (std::size_t begin = 0; begin < keyed.size();) {
    std::size_t end = begin;
    while (end < keyed.size() && keyed[end].operation_key() == keyed[begin].operation_key()) ++end;
    const std::vector<Keyed> members = once_per_rank(std::span(keyed).subspan(begin, end - begin));
    begin = end;
    const Collective& first = run.collectives()[members.front().row];
    const bool agreed = std::ranges::all_of(
        members, [&](const Keyed& member) { return agree(run, first, run.collectives()[member.row]); });
    if (agreed) {
      Operation operation = operation_of(run, members);
      if (!operation.members.empty()) out.operations.push_back(std::move(operation));
    } else {
      add_desync(run, members, out);
    }
  }
  return out;
}

}  // namespace rankscope::analyzer
