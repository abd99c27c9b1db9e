#include "recording/decode/comm_decoder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/rank_list.h"

namespace rankscope::recording {
namespace {

constexpr std::size_t fewest_members = 2;
// Of two operations of a group; NCCL takes three times as long for a call that launches a kernel (2.28.9 on an H200).
constexpr nanoseconds longest_between_reports{20'000};
constexpr std::int64_t longest_ago_ns = (std::int64_t{1} << 30) * 1000;  // the recorder knows no longer times

}  // namespace

void Communicators::add(const SegmentFile& segment, RankId rank) {
  for (const Joined& joined : segment.joined) {
    Known& known = known_[joined.communicator];
    known.ranks = std::max(known.ranks, joined.ranks);
    if (!rank.is_set()) continue;
    if (joined.rank >= 0)
      known.by_place.insert_or_assign(joined.rank, rank);
    else if (std::ranges::find(known.without_place, rank) == known.without_place.end())
      known.without_place.push_back(rank);
  }
}

std::vector<RankId> Communicators::members(std::string_view name) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return {};
  const Known& known = found->second;
  std::vector<RankId> members;
  for (const auto& [place, rank] : known.by_place) members.push_back(rank);
  if (members.empty()) {
    members = known.without_place;
    std::ranges::sort(members);
  }
  return members;
}

bool Communicators::is_single(std::string_view name) const {
  const auto found = known_.find(name);
  return found != known_.end() && found->second.ranks == 1;
}

RankId Communicators::rank_of(std::string_view name, std::int64_t place) const {
  const auto found = known_.find(name);
  if (found == known_.end() || place < 0 || place > INT32_MAX) return RankId::none();
  const auto member = found->second.by_place.find(static_cast<std::int32_t>(place));
  return member == found->second.by_place.end() ? RankId::none() : member->second;
}

void CommDecoder::enqueued(const Record& record, const Where& where) {
  CommEnqueued fields{};
  std::memcpy(&fields, record.body.data(), std::min(sizeof fields, record.body.size()));
  Open& open = open_[fields.uid];
  open.is_enqueued = true;
  open.enqueued = fields;
  open.op = name_in(where.names, record.head.name);
  open.dtype = name_in(where.names, fields.dtype);
  open.enqueued_on = where.lane;
  open.os_thread = where.os_thread;
  open.group_name = name_in(where.names, fields.group);
  const StringId members = name_in(where.names, fields.members);
  open.in_communicator = members.is_set() && builder_.text(members).empty() && open.group_name.is_set() &&
                         communicators_.knows(builder_.text(open.group_name));
  if (!open.in_communicator) open.group = group_of(open.group_name, members);
  (open.in_communicator ? library_reported_ : program_reported_) = true;
}

/// Lists of thousands of ranks stand beside each operation: each is read once.
GroupId CommDecoder::group_of(StringId name, StringId members) {
  const auto [known, added] = groups_.try_emplace({name, members});
  if (!added) return known->second;
  // What is as long as a text may be was cut, perhaps within a number: its last member may be another rank.
  const std::string_view list = builder_.text(members);
  const auto ranks = list.size() < longest_string ? ranks_in(list) : std::nullopt;
  if (!ranks) {
    builder_.quality().add(Counter::no_comm_args);
    return known->second;
  }
  known->second = builder_.add_group(builder_.text(name), *ranks);
  std::vector<RankId>& sorted = members_[known->second] = *ranks;
  std::ranges::sort(sorted);
  return known->second;
}

/// A communicator of which one member was recorded: a group of one would mean that nothing was communicated.
GroupId CommDecoder::group_of_communicator(StringId name) {
  const auto [known, added] = groups_.try_emplace({name, StringId::none()});
  if (!added) return known->second;
  const std::string_view text = builder_.text(name);
  const std::vector<RankId> members = communicators_.members(text);
  if (members.size() >= fewest_members || (members.size() == 1 && communicators_.is_single(text)))
    known->second = builder_.add_group(text, members);
  else
    builder_.quality().add(Counter::no_comm_args);
  return known->second;
}

// Channels and proxy operations of one collective start and finish one by one.
void CommDecoder::started(const Record& record, const Where& where) {
  Open& open = open_[record.word(1)];
  if (open.is_started && open.started <= record.word(0)) return;
  open.is_started = true;
  open.started = record.word(0);
  open.started_on = where.os_thread;
  open.lane = where.lane;
}

void CommDecoder::finished(const Record& record, const Where& where) {
  Open& open = open_[record.word(1)];
  open.finished_on = where.os_thread;
  open.finished = open.is_finished ? std::max(open.finished, record.word(0)) : record.word(0);
  open.is_finished = true;
}

void CommDecoder::returned(const Record& record) { open_[record.word(1)].returned = record.word(0); }

void CommDecoder::device_times(const Record& record) {
  Open& open = open_[record.word(0)];
  const auto begin = static_cast<std::int64_t>(record.word(1));
  const auto end = static_cast<std::int64_t>(record.word(2));
  if (begin <= 0 || end < begin) return builder_.quality().add(Counter::times_unusable);
  open.device_begin = open.device_begin == 0 ? begin : std::min(open.device_begin, begin);
  open.device_end = std::max(open.device_end, end);
}

void CommDecoder::attribute(std::uint64_t uid, StringId key, AttributeValue value) {
  Open& open = open_[uid];
  const bool of_library = open.in_communicator && value.kind == AttributeKind::number;  // programs name theirs freely
  if (of_library && builder_.text(key) == called_on_key)
    open.called_on = value.number;
  else if (of_library && builder_.text(key) == called_ago_key)
    open.called_ago_ns = std::clamp<std::int64_t>(value.number, 0, longest_ago_ns);
  else
    open.attributes.push_back({key, value});
}

void CommDecoder::finish(const DeviceDecoder& devices, const Ending& ending) {
  CommJoin join;
  if (program_reported_ && library_reported_) {
    join = join_reports();
    count_unjoined(join);
  }
  for (const auto& [uid, open] : open_) {
    if (!open.is_enqueued || !open.in_communicator) continue;
    if (open.called_on != 0) calls_.add(open.called_on, called_at(open));
    reports_.add(open.os_thread, clock_.run_time(open.enqueued.ticks));
  }
  const Sources from{devices, ending};
  for (const auto& [uid, open] : open_) {
    const auto parts = join.by_announced.find(uid);
    if (parts != join.by_announced.end())
      add_joined(open, parts->second, from);
    else if (!join.carried.contains(uid))
      add(open, from);
  }
  for (const Open* const open : not_seen_) add_not_seen(*open, from);
}

void CommDecoder::add(const Open& open, const Sources& from) {
  // Without its description or its start nobody can say what it was:
  // enqueued before the recording window opened, thinned out, or the records were lost with a chunk (counted there).
  if (!open.is_enqueued && from.ending.begins_missing) return;  // meant to be left out
  if (!open.is_enqueued || (open.is_finished && !open.is_started))
    return builder_.quality().add(Counter::pop_without_push);
  if (open.in_communicator) return add_of_library(open, from);
  add_announced(open, from);
}

NewCollective CommDecoder::row_of(const Open& open) const {
  NewCollective row{.rank = rank_,
                    .group = open.group,
                    .op = open.op,
                    .dtype = open.dtype,
                    .lane = {},
                    .enqueued_on = open.enqueued_on};
  row.sequence = open.enqueued.sequence;
  row.bytes = open.enqueued.bytes;
  row.peer = open.enqueued.peer;
  row.enqueued = called_at(open);
  return row;
}

RunTime CommDecoder::called_at(const Open& open) const {
  return clock_.run_time(open.enqueued.ticks) - nanoseconds{open.called_ago_ns};
}

void CommDecoder::add_announced(const Open& open, const Sources& from) {
  NewCollective row = row_of(open);
  row.state = open.is_finished ? CommState::finished : open.is_started ? CommState::started : CommState::enqueued;
  if (open.is_started) {
    const std::uint64_t end = open.is_finished ? open.finished : std::max(from.ending.last_ticks, open.started);
    row.started = clock_.run_time(open.started);
    row.finished = open.is_finished ? clock_.run_time(end) : RunTime{};
    row.lane = lane_of(open, from.ending.process);
    row.span_ticket = builder_.add_span(row.lane, SpanKind::comm, open.op, {row.started, clock_.run_time(end)},
                                        open.is_finished ? std::uint8_t{0} : span_flag::cut_end);
    describe(row.span_ticket, open);
  }
  builder_.add_collective(row);
  ++added_;
}

std::optional<TimeRange> CommDecoder::carried_out(const Open& open, const DeviceDecoder& devices) const {
  if (open.device_begin > 0) {
    if (const auto time = devices.on_globaltimer(open.device_begin, open.device_end)) return time;
  }
  if (!open.is_started || !open.is_finished) return std::nullopt;
  return TimeRange{clock_.run_time(open.started), clock_.run_time(std::max(open.started, open.finished))};
}

/// The rank of its peer or root; -1 if it has none, or one that is not known.
std::int64_t CommDecoder::peer_in_job(const Open& open) const {
  if (open.enqueued.peer < 0) return -1;
  const RankId peer = communicators_.rank_of(builder_.text(open.group_name), open.enqueued.peer);
  return peer.is_set() ? std::int64_t{peer.value} : -1;
}

// NCCL reports an operation before its kernel can begin, and after all calls of its group. So what its caller called
// after the report has kernels of its own; and no kernel is that of two communicators.
std::optional<DeviceDecoder::Work> CommDecoder::kernel_of_caller(const Open& open, RunTime reported,
                                                                 const DeviceDecoder& devices) const {
  const TimeRange launched{called_at(open), calls_.next_after(open.called_on, reported)};
  const auto kernel = devices.comm_launched_in(open.called_on, launched, reported);
  const auto owner = kernel ? owned_.find(kernel->ticket) : owned_.end();
  return owner == owned_.end() || owner->second == open.group_name ? kernel : std::nullopt;
}

// A communication library says when an operation was enqueued; its kernel shows when it ran, else its channels, else
// its network operations. A thread of CUDA that reports launches nothing: the kernel is that of the thread that called.
// The operations of a group are reported in one go, and may share a kernel. What was launched before the operations
// before them is theirs: CUPTI has no record of a kernel that has not ended, and none of what was launched after it as
// long as these records lie in one buffer.
std::optional<CommDecoder::Ran> CommDecoder::ran(const Open& open, const Sources& from) {
  const RunTime enqueued = clock_.run_time(open.enqueued.ticks);
  const RunTime others = reports_.before_burst(open.os_thread, enqueued, longest_between_reports);
  auto kernel = from.devices.comm_launched_last(open.os_thread, {others, enqueued});
  if (!kernel && open.called_on != 0) kernel = kernel_of_caller(open, enqueued, from.devices);
  const auto time = kernel ? std::optional{kernel->time} : carried_out(open, from.devices);
  if (!time) return std::nullopt;
  Ran result{*time, kernel ? kernel->lane : library_lane(open.group_name, from.ending.process)};
  if (!kernel) result.ticket = builder_.add_span(result.lane, SpanKind::comm, open.op, *time);
  if (kernel && owned_.try_emplace(kernel->ticket, open.group_name).second)
    result.ticket = kernel->ticket;  // it may have several
  if (result.ticket != no_span) describe(result.ticket, open);
  return result;
}

/// If nothing shows when it ran, only the call is known.
void CommDecoder::add_call(const Open& open, const Sources& from) {
  const RunTime begin = clock_.run_time(open.enqueued.ticks);
  const RunTime end = open.returned == 0 ? begin : clock_.run_time(open.returned);
  const LaneId lane = library_lane(open.group_name, from.ending.process);
  describe(builder_.add_span(lane, SpanKind::api, open.op, {begin, end}), open);
}

void CommDecoder::add_of_library(const Open& open, const Sources& from) {
  NewCollective row = row_of(open);
  row.group = group_of_communicator(open.group_name);
  row.peer = peer_in_job(open);
  ++added_;
  const auto one = ran(open, from);
  if (!one) return not_seen_.push_back(&open);
  last_seen_enqueued_ = std::max(last_seen_enqueued_, clock_.run_time(open.enqueued.ticks));
  row.started = one->time.begin;
  row.finished = one->time.end;
  row.enqueued = std::min(row.enqueued, one->time.begin);
  row.lane = one->lane;
  row.span_ticket = one->ticket;
  builder_.add_collective(row);
}

/// Operations that were enqueued after the last one that is known to have run may never have run: as in a job that
/// hangs. Of any other the times were lost. What a thread of CUDA reports, and what is part of a graph, often has none.
void CommDecoder::add_not_seen(const Open& open, const Sources& from) {
  builder_.quality().add(Counter::comm_times_unknown);
  add_call(open, from);
  const bool is_last =
      open.called_on == 0 && open.enqueued.sequence >= 0 && clock_.run_time(open.enqueued.ticks) > last_seen_enqueued_;
  if (!is_last || from.ending.was_switched_off || !from.devices.seen()) return;
  NewCollective row = row_of(open);
  row.group = group_of_communicator(open.group_name);
  row.peer = peer_in_job(open);
  row.state = CommState::enqueued;
  builder_.add_collective(row);
}

/// Operations that overlap on the thread that starts them tell a lane of their own.
LaneId CommDecoder::lane_of(const Open& open, std::uint32_t process) {
  const StringId key = builder_.intern("lane");
  const auto told = std::ranges::find(open.attributes, key, &Attribute::key);
  if (told == open.attributes.end() || told->value.kind != AttributeKind::text) return open.lane;
  return lane_named(builder_.text(told->value.text), process);
}

LaneId CommDecoder::library_lane(StringId group, std::uint32_t process) {
  return lane_named(format("NCCL {}", builder_.text(group)), process);
}

LaneId CommDecoder::lane_named(std::string_view name, std::uint32_t process) {
  const auto [found, added] = lanes_.try_emplace(std::string{name});
  if (added) found->second = builder_.add_lane(process, LaneKind::comm, name, 0);
  return found->second;
}

void CommDecoder::describe(std::uint32_t ticket, const Open& open) {
  if (!open.attributes.empty()) builder_.add_attributes(ticket, open.attributes);
}

}  // namespace rankscope::recording
