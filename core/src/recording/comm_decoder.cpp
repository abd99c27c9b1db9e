#include "comm_decoder.h"

#include <algorithm>
#include <cstring>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/rank_list.h"

namespace rankscope::recording {
namespace {

StringId name_in(DeviceDecoder::Names names, std::uint64_t id) {
  return id < names.size() ? names[id] : StringId::none();
}

constexpr std::size_t fewest_members = 2;

}  // namespace

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
  open.group = open.in_communicator ? group_of_communicator(open.group_name) : group_of(open.group_name, members);
}

/// Lists of thousands of ranks stand beside each operation: each is read once.
GroupId CommDecoder::group_of(StringId name, StringId members) {
  const auto [known, added] = groups_.try_emplace({name, members});
  if (!added) return known->second;
  // What is as long as a text may be was cut, perhaps within a number: its last member may be another rank.
  const std::string_view list = builder_.text(members);
  const auto ranks = list.size() < longest_string ? ranks_in(list) : std::nullopt;
  if (ranks)
    known->second = builder_.add_group(builder_.text(name), *ranks);
  else
    builder_.quality().add(Counter::no_comm_args);
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
  open.lane = where.lane;
}

void CommDecoder::finished(const Record& record) {
  Open& open = open_[record.word(1)];
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
  open_[uid].attributes.push_back({key, value});
}

void CommDecoder::finish(const DeviceDecoder& devices, const Ending& ending) {
  for (const auto& [uid, open] : open_) add(open, devices, ending);
}

void CommDecoder::add(const Open& open, const DeviceDecoder& devices, const Ending& ending) {
  // Without its description or its start nobody can say what it was:
  // enqueued before the recording window opened, or the records were lost with a chunk (counted there).
  if (!open.is_enqueued && ending.was_switched_off) return;  // meant to be left out
  if (!open.is_enqueued || (open.is_finished && !open.is_started))
    return builder_.quality().add(Counter::pop_without_push);
  NewCollective row{.rank = rank_,
                    .group = open.group,
                    .op = open.op,
                    .dtype = open.dtype,
                    .lane = {},
                    .enqueued_on = open.enqueued_on};
  row.sequence = open.enqueued.sequence;
  row.bytes = open.enqueued.bytes;
  row.peer = open.enqueued.peer;
  row.enqueued = clock_.run_time(open.enqueued.ticks);
  if (open.in_communicator) return add_of_library(open, devices, ending, row);
  row.state = open.is_finished ? CommState::finished : open.is_started ? CommState::started : CommState::enqueued;
  if (open.is_started) {
    const std::uint64_t end = open.is_finished ? open.finished : std::max(ending.last_ticks, open.started);
    row.started = clock_.run_time(open.started);
    row.finished = open.is_finished ? clock_.run_time(end) : RunTime{};
    row.lane = open.lane;
    row.span_ticket = builder_.add_span(open.lane, SpanKind::comm, open.op, {row.started, clock_.run_time(end)},
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

// A communication library says when an operation was enqueued; when it ran tells the kernel, else its channels, else
// its network operations. Where none of them was recorded, what is left is the call.
void CommDecoder::add_of_library(const Open& open, const DeviceDecoder& devices, const Ending& ending,
                                 NewCollective row) {
  if (row.peer >= 0) {
    const RankId peer = communicators_.rank_of(builder_.text(open.group_name), row.peer);
    row.peer = peer.is_set() ? std::int64_t{peer.value} : -1;
  }
  ++added_;
  const auto kernel = devices.comm_launched_before(open.os_thread, row.enqueued);
  const auto time = kernel ? std::optional{kernel->time} : carried_out(open, devices);
  if (!time) {
    builder_.quality().add(Counter::comm_times_unknown);
    const RunTime end = open.returned == 0 ? row.enqueued : clock_.run_time(open.returned);
    const LaneId lane = comm_lane(open.group_name, ending.process);
    return describe(builder_.add_span(lane, SpanKind::api, open.op, {row.enqueued, end}), open);
  }
  row.started = time->begin;
  row.finished = time->end;
  row.enqueued = std::min(row.enqueued, time->begin);
  row.lane = kernel ? kernel->lane : comm_lane(open.group_name, ending.process);
  const bool first = !kernel || owned_.try_emplace(kernel->ticket, true).second;  // a kernel may carry out several
  if (first) {
    row.span_ticket = kernel ? kernel->ticket : builder_.add_span(row.lane, SpanKind::comm, open.op, *time);
    describe(row.span_ticket, open);
  }
  builder_.add_collective(row);
}

LaneId CommDecoder::comm_lane(StringId group, std::uint32_t process) {
  const auto [found, added] = lanes_.try_emplace(group);
  if (added) found->second = builder_.add_lane(process, LaneKind::comm, format("NCCL {}", builder_.text(group)), 0);
  return found->second;
}

void CommDecoder::describe(std::uint32_t ticket, const Open& open) {
  if (!open.attributes.empty()) builder_.add_attributes(ticket, open.attributes);
}

}  // namespace rankscope::recording
