// Of a CommDecoder: operations that both the program and its communication library reported.
#include <algorithm>
#include <set>

#include "rankscope/core/format.h"
#include "recording/decode/comm_decoder.h"

namespace rankscope::recording {

CommJoin CommDecoder::join_reports() const {
  std::vector<Announced> announced;
  std::vector<Carried> carried;
  for (const auto& [uid, open] : open_) {
    if (!open.is_enqueued) continue;
    const std::string_view op = builder_.text(open.op);
    const CommEnqueued& enqueued = open.enqueued;
    if (open.in_communicator) {
      carried.push_back({.uid = uid,
                         .op = op,
                         .bytes = enqueued.bytes,
                         .peer = peer_in_job(open),
                         .communicator = open.group_name,
                         .enqueued = enqueued.ticks,
                         .enqueued_on = open.called_on != 0 ? open.called_on : open.os_thread});
    } else {
      announced.push_back({.uid = uid,
                           .op = op,
                           .bytes = enqueued.bytes,
                           .peer = enqueued.peer,
                           .group = open.group,
                           .enqueued = enqueued.ticks,
                           .started = open.is_started ? open.started : Announced::never,
                           .finished = open.is_finished ? open.finished : Announced::never,
                           .enqueued_on = open.os_thread,
                           .started_on = open.started_on,
                           .finished_on = open.finished_on});
    }
  }
  std::map<std::pair<GroupId, StringId>, Fit> known;
  return recording::join_reports(announced, carried, [&](GroupId group, StringId communicator) {
    const auto [found, added] = known.try_emplace({group, communicator});
    if (added) found->second = fit(group, communicator);
    return found->second;
  });
}

/// A group may use a communicator for a few of its members (two that send to one another), and not all ranks of a
/// communicator need have been recorded.
Fit CommDecoder::fit(GroupId group, StringId communicator) const {
  std::vector<RankId> ranks = communicators_.members(builder_.text(communicator));
  const auto members = members_.find(group);
  if (ranks.empty() || members == members_.end()) return Fit::possible;
  std::ranges::sort(ranks);
  if (ranks == members->second) return Fit::same;
  return std::ranges::includes(members->second, ranks) ? Fit::possible : Fit::no;
}

/// Where one of them reported something that the other did not, though both reported operations of these ranks.
void CommDecoder::count_unjoined(const CommJoin& join) {
  std::set<GroupId> joined;     // announced groups that the library reported, too
  std::set<GroupId> announced;  // all
  std::map<StringId, std::uint64_t> beside;
  for (const auto& [uid, open] : open_) {
    if (!open.is_enqueued) continue;
    if (!open.in_communicator) announced.insert(open.group);
    if (join.by_announced.contains(uid)) joined.insert(open.group);
    if (open.in_communicator && !join.carried.contains(uid)) ++beside[open.group_name];
  }
  for (const auto& [uid, open] : open_)
    if (open.is_enqueued && !open.in_communicator && joined.contains(open.group) && !join.by_announced.contains(uid))
      builder_.quality().add(Counter::comm_announced_only);
  for (const auto& [communicator, amount] : beside)
    if (std::ranges::any_of(announced, [&](GroupId group) { return fit(group, communicator) != Fit::no; }))
      builder_.quality().add(Counter::comm_not_announced, amount);
}

// Who it was is the program's word, which is the same on all ranks. When it ran is the library's: what the thread of
// the program did around it is no communication of its own.
void CommDecoder::add_joined(const Open& open, const CommJoin::Parts& parts, const Sources& from) {
  Open whole = open;
  std::optional<TimeRange> time;
  NewCollective row = row_of(open);
  std::vector<std::uint32_t> tickets;
  for (const std::uint64_t uid : parts.uids) {
    Open& part = open_[uid];
    part.attributes.push_back({builder_.intern("communicator"), AttributeValue{part.group_name}});
    if (!parts.is_whole)
      part.attributes.push_back({builder_.intern("part_of"), AttributeValue{builder_.intern(format(
                                                                 "{} {} of {}", builder_.text(open.op), row.sequence,
                                                                 builder_.text(open.group_name)))}});
    const auto one = ran(part, from);
    if (!one && parts.is_whole) whole.attributes = part.attributes;
    if (!one && !parts.is_whole) add_call(part, from);
    if (!one) continue;
    time = time ? TimeRange{std::min(time->begin, one->time.begin), std::max(time->end, one->time.end)} : one->time;
    if (!row.lane.is_set()) row.lane = one->lane;
    if (one->ticket != no_span) tickets.push_back(one->ticket);
  }
  if (!time) return add(whole, from);
  if (open.is_started) {
    const std::uint64_t end = open.is_finished ? open.finished : std::max(from.ending.last_ticks, open.started);
    builder_.add_span(open.lane, SpanKind::api, open.op, {clock_.run_time(open.started), clock_.run_time(end)},
                      open.is_finished ? std::uint8_t{0} : span_flag::cut_end);
  }
  row.started = time->begin;
  row.finished = time->end;
  row.enqueued = std::min(row.enqueued, time->begin);
  // Of several kernels none is the operation.
  if (tickets.size() == 1 && builder_.spans()[tickets.front()].time == *time) row.span_ticket = tickets.front();
  builder_.add_collective(row);
  ++added_;
}

}  // namespace rankscope::recording
