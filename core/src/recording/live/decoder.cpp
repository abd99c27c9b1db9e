#include "recording/live/decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "rankscope/core/model/host_work.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/step_names.h"
#include "recording/format/field_text.h"

namespace rankscope::recording {
namespace {

constexpr std::size_t most_comm = 1U << 16;  // started, not finished

/// Damaged times must not overflow.
bool believable(std::int64_t ns) { return ns > 0 && ns < std::int64_t{1} << 61; }

bool is_memory(std::string_view counter) {
  return counter == "rss_bytes" || counter == "allocated_bytes" || counter == "reserved_bytes" ||
         (counter.starts_with("GPU ") && counter.ends_with(" memory_used_bytes"));
}

/// Of a span that is work, or a wait.
std::optional<LiveLayer> layer_of(SpanKind kind) {
  switch (host_work_of(kind)) {
    case HostWork::compute:
      return LiveLayer::compute;
    case HostWork::communication:
      return LiveLayer::communication;
    case HostWork::copies:
      return LiveLayer::copies;
    case HostWork::data:
      return LiveLayer::data;
    case HostWork::wait:
    case HostWork::sync:
      return LiveLayer::wait;
    case HostWork::none:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_idle(LiveLayer layer) { return layer == LiveLayer::data || layer == LiveLayer::wait; }

SpanKind kind_from(std::uint8_t code) { return code < span_kind_count ? static_cast<SpanKind>(code) : SpanKind::user; }

}  // namespace

LiveDecoder::LiveDecoder(const SegmentStatic& fixed, const LiveLimits& limits, StepLength length)
    : fixed_(fixed),
      limits_(limits),
      length_(length),
      clock_({fixed.first_pair}, fixed.ticks_per_ns),
      last_pair_(fixed.first_pair),
      latest_(clock_.host_time(fixed.first_pair.ticks)) {}

void LiveDecoder::take(const LivePiece& piece) {
  Thread& thread = threads_[piece.thread];
  thread.os_thread = piece.os_thread;
  if (piece.begins_chunk) thread.names.clear();
  RecordWalk walk{piece.payload};
  const HostTime before = std::exchange(latest_, thread.seen);
  for (Record record{}; walk.next(record);) take_record(piece.thread, record);
  thread.seen = std::max(thread.seen, latest_);
  latest_ = std::max(latest_, before);
}

void LiveDecoder::take_record(std::uint32_t number, const Record& record) {
  Thread& thread = threads_[number];
  const std::uint64_t ticks = record.word(0);
  switch (static_cast<RecordType>(record.head.type)) {
    case RecordType::string:
      return take_name(thread, record);
    case RecordType::push:
      return push(number, record);
    case RecordType::pop:
      return pop(number, ticks);
    case RecordType::attribute_int:
      return number_step(thread, record);
    case RecordType::mark:
      ++marks_;
      [[fallthrough]];
    case RecordType::range_start:
      ++events_;
      static_cast<void>(saw(ticks));
      return;
    case RecordType::comm_enqueued:
      return enqueued(thread, record);
    case RecordType::comm_started:
      if (comm_.size() >= most_comm) comm_.clear();  // they will never finish
      comm_.try_emplace(record.word(1), saw(ticks));
      return;
    case RecordType::comm_finished:
      return comm_ended(record.word(1), saw(ticks));
    case RecordType::activity:
      return activity(thread, record);
    case RecordType::counter:
      return counter(thread, record);
    case RecordType::clock_pair:
      last_pair_ = {ticks, static_cast<std::int64_t>(record.word(1)), static_cast<std::int64_t>(record.word(2))};
      clock_ = TickMap{{fixed_.first_pair, last_pair_}, fixed_.ticks_per_ns};
      return;
    case RecordType::anchor:
      if (record.head.code == static_cast<std::uint8_t>(ForeignClock::activities))
        anchor_ = Anchor{ForeignClock::activities, ticks, static_cast<std::int64_t>(record.word(1))};
      return;
    case RecordType::range_end:
    case RecordType::attribute_text:
    case RecordType::thread_name:
    case RecordType::metadata:
    case RecordType::mark_attribute_int:
    case RecordType::mark_attribute_text:
    case RecordType::range_attribute_int:
    case RecordType::range_attribute_text:
    case RecordType::call:
    case RecordType::moment:
    case RecordType::device:
    case RecordType::comm_attribute_int:
    case RecordType::comm_attribute_text:
    case RecordType::comm_returned:
    case RecordType::comm_device_times:
    case RecordType::communicator:
    case RecordType::step_sums:
    case RecordType::thinned:
      return;  // and nothing else of what a newer version writes
  }
}

HostTime LiveDecoder::saw(std::uint64_t ticks) {
  const HostTime time = clock_.host_time(ticks);
  latest_ = std::max(latest_, time);
  return time;
}

void LiveDecoder::take_name(Thread& thread, const Record& record) {
  if (record.head.name != thread.names.size() || record.body.size() < 8) return;
  const auto bytes = record.body.subspan(8);
  thread.names.emplace_back(reinterpret_cast<const char*>(bytes.data()),
                            std::min<std::size_t>(record.word(0), bytes.size()));
}

std::optional<std::int64_t> LiveDecoder::step_number(std::uint32_t number, SpanKind kind, std::string_view name) {
  const auto digits = kind == SpanKind::user ? number_of_step_name(name) : std::nullopt;
  const Steps source = kind == SpanKind::step ? Steps::spans : digits ? Steps::named_ranges : Steps::none;
  if (source == Steps::none || source < source_) return std::nullopt;
  if (source > source_) {  // what was taken for steps before is none
    source_ = source;
    step_thread_ = number;
    steps_.clear();
    unsettled_ = 0;
    step_count_ = 0;
  }
  if (number != step_thread_ || threads_[number].in_step) return std::nullopt;
  const auto counted = static_cast<std::int64_t>(step_count_);
  return leading_number<std::int64_t>(digits.value_or(""))
      .value_or(counted);  // no digits, or too many: counted instead
}

void LiveDecoder::push(std::uint32_t number, const Record& record) {
  ++events_;
  Thread& thread = threads_[number];
  const HostTime time = saw(record.word(0));
  const SpanKind kind = kind_from(record.head.code);
  const bool is_named = record.head.name < thread.names.size();
  const auto index = step_number(number, kind, is_named ? thread.names[record.head.name] : std::string_view{});
  if (layer_of(kind)) account(number, time);
  if (index) thread.in_step = true;
  thread.open.push_back(
      {.kind = kind, .is_step = index.has_value(), .begin = time, .index = index.value_or(0), .ticks = record.word(0)});
  if (index && is_named) thread.open.back().name = thread.names[record.head.name];
}

void LiveDecoder::pop(std::uint32_t number, std::uint64_t ticks) {
  Thread& thread = threads_[number];
  const HostTime time = saw(ticks);
  if (thread.open.empty()) return;
  const Open open = thread.open.back();
  if (layer_of(open.kind)) account(number, time);
  thread.open.pop_back();
  if (!open.is_step) return;
  thread.in_step = false;
  if (number == step_thread_) end_step(thread, open, ticks);
}

void LiveDecoder::number_step(Thread& thread, const Record& record) {
  if (thread.open.empty() || !thread.open.back().is_step || record.head.name >= thread.names.size()) return;
  if (thread.names[record.head.name] == "index") thread.open.back().index = static_cast<std::int64_t>(record.word(0));
}

/// A negative number is that of the time behind the last step.
void LiveDecoder::end_step(const Thread& thread, const Open& step, std::uint64_t end_ticks) {
  const HostTime end = clock_.host_time(end_ticks);
  if (step.index < 0 || end < step.begin) return;
  if (length_ == StepLength::to_the_next && !steps_.empty() && !steps_.back().is_followed) {
    Ended& before = steps_.back();
    before.is_followed = true;
    if (before.step.index + 1 == step.index && before.step.begin < step.begin) {
      before.step.duration = step.begin - before.step.begin;
      before.sums.fields.window_end = step.ticks;
    }
  }
  ++step_count_;
  Ended& ended =
      steps_.emplace_back(Ended{.step = {.index = step.index, .begin = step.begin, .duration = end - step.begin}});
  ended.sums.kind = static_cast<std::uint8_t>(step.kind);
  ended.sums.name = step.name;
  ended.sums.fields.begin = step.ticks;
  ended.sums.fields.end = ended.sums.fields.window_end = end_ticks;
  ended.sums.fields.index = step.index;
  ended.sums.fields.os_thread = thread.os_thread;
  const bool is_too_much = unsettled_ == limits_.steps;
  if (is_too_much) settle_without_sums(steps_.front());
  if (!is_too_much) ++unsettled_;
  if (steps_.size() > limits_.steps) steps_.pop_front();
}

void LiveDecoder::enqueued(const Thread& thread, const Record& record) {
  ++events_;
  const HostTime time = saw(record.word(0));
  if (length_ == StepLength::span) return;
  CommEnqueued fields{};
  std::memcpy(&fields, record.body.data(), std::min(sizeof fields, record.body.size()));
  const bool is_announced = fields.members < thread.names.size() && !thread.names[fields.members].empty();
  if (!is_announced && fields.group < thread.names.size()) {
    std::uint64_t& last = last_of_library_[thread.names[fields.group]];
    last = std::max(last, fields.ticks);
  }
  if (enqueued_.size() >= most_comm) {
    complete_since_ = std::max(complete_since_, enqueued_.front().time + nanoseconds{1});
    enqueued_.pop_front();
  }
  enqueued_.push_back({time, std::max<std::int64_t>(fields.bytes, 0), is_announced});
}

bool LiveDecoder::is_last_of_library(std::string_view communicator, std::uint64_t ticks) const {
  const auto last = last_of_library_.find(communicator);
  return last == last_of_library_.end() || last->second <= ticks;
}

std::vector<SettledStep> LiveDecoder::take_settled() { return std::exchange(settled_, {}); }

/// Gives the time since the last change to the innermost span that is work, or a wait.
void LiveDecoder::account(std::uint32_t number, HostTime until) {
  Thread& thread = threads_[number];
  const HostTime since = std::exchange(thread.now, std::max(thread.now, until));
  const auto inner = std::find_if(thread.open.rbegin(), thread.open.rend(),
                                  [](const Open& open) { return layer_of(open.kind).has_value(); });
  if (inner == thread.open.rend()) return;
  const LiveLayer layer = *layer_of(inner->kind);
  if (is_idle(layer) && source_ != Steps::none && number != step_thread_) return;  // of a worker
  add({since, until, layer, number});
}

void LiveDecoder::add(const LiveStretch& stretch) {
  if (stretch.end <= stretch.begin) return;
  if (host_.size() + device_.size() >= limits_.stretches) {
    too_many_ = true;
    return;
  }
  host_.push_back(stretch);
}

void LiveDecoder::comm_ended(std::uint64_t uid, HostTime end) {
  const auto started = comm_.find(uid);
  if (started == comm_.end()) return;
  add({started->second, end, LiveLayer::communication});
  comm_.erase(started);
}

/// Told in nanoseconds of a clock of its own, which an anchor ties to ticks; without one it is the wall clock.
void LiveDecoder::activity(Thread& thread, const Record& record) {
  ++events_;
  ActivityFields fields{};
  std::memcpy(&fields, record.body.data(), std::min(sizeof fields, record.body.size()));
  const auto layer = layer_of(kind_from(record.head.code));
  has_device_ = true;
  if (!layer || !believable(fields.begin) || !believable(fields.end) || fields.end < fields.begin) return;
  const HostTime base = anchor_ ? clock_.host_time(anchor_->ticks) : HostTime{nanoseconds{last_pair_.monotonic_ns}};
  const std::int64_t base_ns = anchor_ ? anchor_->ns : last_pair_.realtime_ns;
  if (!believable(base_ns) || !believable(base.time_since_epoch().count())) return;
  const HostTime begin = base + nanoseconds{fields.begin - base_ns};
  const HostTime end = base + nanoseconds{fields.end - base_ns};
  thread.seen = std::max(thread.seen, end);
  if (host_.size() + device_.size() >= limits_.stretches) {
    too_many_ = true;
    return;
  }
  device_.push_back({begin, end, *layer});
}

void LiveDecoder::counter(const Thread& thread, const Record& record) {
  const HostTime time = saw(record.word(0));
  if (record.head.name >= thread.names.size() || !is_memory(thread.names[record.head.name])) return;
  const auto series = memory_.try_emplace(thread.names[record.head.name], limits_.values).first;
  series->second.add(time, std::bit_cast<double>(record.word(1)));
}

LiveProcess LiveDecoder::process(const SegmentCounters& counters) const {
  LiveProcess process;
  process.pid = fixed_.pid;
  process.rank = fixed_.rank >= 0 ? fixed_.rank : counters.late_rank - 1;
  process.program = field_text(fixed_.program);
  process.watched = field_text(fixed_.rank_source) == watched_source;
  process.ended = counters.end == ProcessEnd::exited;
  process.events = events_;
  process.marks = marks_;
  process.dropped = counters.events_dropped;
  process.steps = step_count_;
  for (const Ended& ended : steps_) process.last.push_back(ended.step);
  for (const auto& [name, series] : memory_)
    if (!series.values().empty()) process.memory.push_back({name, series.values()});
  return process;
}

}  // namespace rankscope::recording
