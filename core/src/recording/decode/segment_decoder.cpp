#include "recording/decode/segment_decoder.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/manifest.h"
#include "recording/decode/chunk_ticks.h"
#include "recording/decode/sources.h"
#include "recording/format/field_text.h"

namespace rankscope::recording {
namespace {

bool shows_in_row(RecordType type) {
  switch (type) {
    case RecordType::string:
    case RecordType::counter:
    case RecordType::metadata:
    case RecordType::clock_pair:
    case RecordType::range_start:  // rows of their own
    case RecordType::range_end:
    case RecordType::range_attribute_int:
    case RecordType::range_attribute_text:
    case RecordType::activity:
    case RecordType::call:
    case RecordType::moment:
    case RecordType::device:
    case RecordType::anchor:
    case RecordType::communicator:
    case RecordType::comm_device_times:
    case RecordType::comm_attribute_int:
    case RecordType::comm_attribute_text:
    case RecordType::step_sums:
    case RecordType::thinned:
      return false;
    case RecordType::push:
    case RecordType::pop:
    case RecordType::mark:
    case RecordType::attribute_int:
    case RecordType::attribute_text:
    case RecordType::comm_enqueued:
    case RecordType::comm_started:
    case RecordType::comm_finished:
    case RecordType::comm_returned:
    case RecordType::thread_name:
    case RecordType::mark_attribute_int:
    case RecordType::mark_attribute_text:
      break;
  }
  return true;  // so does what a newer version writes
}

// Not so for the recorder's own thread, which samples and pairs clocks: it gets no row in the timeline.
bool fills_a_row(const Chunk& chunk) {
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);)
    if (shows_in_row(static_cast<RecordType>(record.head.type))) return true;
  return false;
}

bool holds_text(RecordType attribute) {
  using enum RecordType;
  return attribute == attribute_text || attribute == mark_attribute_text || attribute == range_attribute_text ||
         attribute == comm_attribute_text;
}

std::uint32_t add_process(RunBuilder& builder, const SegmentFile& segment, RankId rank) {
  const SegmentStatic& fixed = segment.fixed;
  Process process;
  process.rank = rank;
  process.pid = fixed.pid;
  process.host = builder.intern(field_text(fixed.host));
  process.program = builder.intern(field_text(fixed.program));
  process.local_rank = fixed.local_rank;
  const bool exited = segment.counters.end == ProcessEnd::exited;
  // A process that is watched from outside does not tell how it ended; one that still runs has not ended.
  const bool unknown =
      field_text(fixed.rank_source) == watched_source || segment.header_is_damaged() || still_runs(segment);
  const Ending unreported = unknown ? Ending::unknown : Ending::vanished;
  process.ending = exited ? Ending::exited : unreported;
  process.exit_status = exited ? segment.counters.exit_status : 0;
  if (const auto source = field_text(fixed.rank_source); !source.empty())
    process.metadata.emplace_back(builder.intern("rank_source"), builder.intern(source));
  return builder.add_process(std::move(process));
}

}  // namespace

struct SegmentDecoder::Thread {
  LaneId lane;
  std::int64_t os_thread = 0;
  bool holds_sums = false;      // of other threads, in place of their chunks
  std::vector<StringId> names;  // of the current chunk
  std::vector<OpenSpan> open;
  std::optional<std::uint32_t> mark;  // ticket of the latest one
  std::uint64_t last_ticks = 0;

  [[nodiscard]] StringId name(std::uint64_t id) const { return id < names.size() ? names[id] : StringId::none(); }
  [[nodiscard]] CommDecoder::Where where() const { return {lane, os_thread, names}; }
};

SegmentDecoder::SegmentDecoder(RunBuilder& builder, const SegmentFile& segment, const SegmentClock& clock,
                               const Whose& whose)
    : builder_(builder),
      segment_(segment),
      clock_(clock),
      process_(add_process(builder, segment, whose.rank)),
      ranges_(builder, clock, process_),
      devices_(builder, segment, clock, process_),
      comm_(builder, clock, whose.communicators, whose.rank),
      full_(whose.full),
      last_ticks_(segment.fixed.first_pair.ticks) {}

std::uint64_t SegmentDecoder::decode() {
  devices_.leave_out_before(full_.since);
  if (full_.since) unfinished_ = find_unfinished(segment_);
  std::vector<std::pair<std::size_t, std::size_t>> threads;  // [first, last) chunk
  const auto& chunks = segment_.chunks;
  for (std::size_t first = 0, last = 0; first < chunks.size(); first = last) {
    while (last < chunks.size() && chunks[last].thread == chunks[first].thread) ++last;
    threads.emplace_back(first, last);
  }
  for (const auto& [first, last] : threads) decode_thread(first, last);
  count_missing_chunks();
  finish_spans();
  add_step_sums();
  ranges_.finish(last_ticks_, full_.since ? RangeDecoder::Starts::some : RangeDecoder::Starts::all);
  devices_.finish();
  const bool off = was_switched_off();
  comm_.finish(devices_, {process_, last_ticks_, off, full_.since.has_value() || off});
  count_thinned();
  for (const auto& [counter, total] : totals_) builder_.quality().add(counter, total);
  Process& process = builder_.process(process_);
  process.recorded = {run_time(segment_.fixed.first_pair.ticks), run_time(last_ticks_)};
  if (const auto seen = devices_.seen())
    process.recorded = {std::min(process.recorded.begin, seen->begin), std::max(process.recorded.end, seen->end)};
  if (full_.since) process.recorded.begin = std::clamp(*full_.since, process.recorded.begin, process.recorded.end);
  return added_ + ranges_.added() + devices_.added() + comm_.added();
}

void SegmentDecoder::saw(std::uint64_t ticks) { last_ticks_ = std::max(last_ticks_, ticks); }

void SegmentDecoder::decode_thread(std::size_t first_chunk, std::size_t last_chunk) {
  const Chunk& first = segment_.chunks[first_chunk];
  Thread thread;
  thread.os_thread = first.os_thread;
  const std::span<const Chunk> chunks{&first, last_chunk - first_chunk};
  thread.holds_sums = first.thread == sums_thread;
  if (!thread.holds_sums && std::ranges::any_of(chunks, fills_a_row))
    thread.lane = devices_.thread_lane(first.os_thread);
  std::uint32_t expected = 0;
  for (std::size_t i = first_chunk; i < last_chunk; ++i) {
    // Behind a missing chunk nobody knows which of the open spans ended in it.
    if (segment_.chunks[i].sequence != expected) {
      const std::uint64_t missing = std::uint64_t{segment_.chunks[i].sequence} - expected;
      const std::uint64_t thinned = thinned_among(segment_, first.thread, expected, segment_.chunks[i].sequence);
      if (missing > thinned)
        note_gap(missing - thinned, i > first_chunk ? &segment_.chunks[i - 1] : nullptr, segment_.chunks[i]);
      close_all(thread, thread.last_ticks);
      thread.mark.reset();
    }
    expected = segment_.chunks[i].sequence + 1;
    decode_chunk(thread, segment_.chunks[i]);
  }
  unclosed_.insert(unclosed_.end(), thread.open.begin(), thread.open.end());
}

void SegmentDecoder::note_gap(std::uint64_t chunks, const Chunk* before, const Chunk& after) {
  const std::uint64_t start = segment_.fixed.first_pair.ticks;
  const auto earlier = before == nullptr ? std::optional{ChunkTicks{start, start}} : ticks_of(*before);
  const auto later = ticks_of(after);
  Gap& gap = gaps_.emplace_back(Gap{chunks, std::nullopt});
  if (earlier && later && earlier->last <= later->first)
    gap.time = TimeRange{run_time(earlier->last), run_time(later->first)};
}

/// A chunk with a wrong checksum is counted as such already.
void SegmentDecoder::count_missing_chunks() {
  std::uint64_t missing = 0;
  for (const Gap& gap : gaps_) missing += gap.chunks;
  const std::uint64_t corrupt = segment_.quality.of(Counter::chunks_corrupt);
  if (missing > corrupt) builder_.quality().add(Counter::chunks_missing, missing - corrupt);
}

void SegmentDecoder::decode_chunk(Thread& thread, const Chunk& chunk) {
  thread.names.clear();
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);) decode_record(thread, record);
  if (walk.broken()) builder_.quality().add(Counter::chunks_corrupt);
}

void SegmentDecoder::push(Thread& thread, const Record& record) {
  const std::uint64_t ticks = record.word(0);
  const StringId name = thread.name(record.head.name);
  saw(thread.last_ticks = ticks);
  if (!name.is_set()) builder_.quality().add(Counter::names_lost);
  ++added_;
  thread.open.push_back(
      {builder_.begin_span(thread.lane, kind_of(record.head.code), name, run_time(ticks)), ticks, false});
}

// A row or two for each type. NOLINTNEXTLINE(readability-function-size)
void SegmentDecoder::decode_record(Thread& thread, const Record& record) {
  if (is_left_out(record)) return leave_out(thread, record);
  const std::uint64_t ticks = record.word(0);
  const StringId name = thread.name(record.head.name);
  switch (static_cast<RecordType>(record.head.type)) {
    case RecordType::string:
      return decode_string(thread, record);
    case RecordType::push:
      return push(thread, record);
    case RecordType::pop:
      return pop(thread, ticks);
    case RecordType::range_start:
      return saw(ticks), ranges_.start({kind_of(record.head.code), name, ticks}, record.word(1));
    case RecordType::range_end:
      return saw(ticks), ranges_.end(ticks, record.word(1));
    case RecordType::mark:
      saw(ticks);
      ++added_;
      thread.mark = builder_.add_mark(thread.lane, name, run_time(ticks));
      return;
    case RecordType::attribute_int:
    case RecordType::attribute_text:
      return add_attribute(thread, record, AttributeOf::span);
    case RecordType::mark_attribute_int:
    case RecordType::mark_attribute_text:
      return add_attribute(thread, record, AttributeOf::mark);
    case RecordType::range_attribute_int:
    case RecordType::range_attribute_text:
      return add_attribute(thread, record, AttributeOf::range);
    case RecordType::comm_attribute_int:
    case RecordType::comm_attribute_text:
      return add_attribute(thread, record, AttributeOf::comm);
    case RecordType::counter:
      saw(ticks);
      return builder_.add_sample(process_, name, run_time(ticks), std::bit_cast<double>(record.word(1)));
    case RecordType::comm_enqueued:
      // Of sums: it had not finished when its chunk was given up. Who enqueued it is not known any more.
      if (thread.holds_sums && !thread.lane.is_set()) thread.lane = devices_.thread_lane(segment_.fixed.pid);
      return saw(ticks), comm_.enqueued(record, thread.where());
    case RecordType::comm_started:
      return saw(ticks), comm_.started(record, thread.where());
    case RecordType::comm_finished:
      return saw(ticks), comm_.finished(record, thread.where());
    case RecordType::comm_returned:
      return saw(ticks), comm_.returned(record);
    case RecordType::comm_device_times:
      return comm_.device_times(record);
    case RecordType::thread_name:
      if (thread.holds_sums) thread.lane = devices_.thread_lane(static_cast<std::int64_t>(record.word(1)));
      return builder_.rename_lane(thread.lane, builder_.text(name),
                                  record.head.code == 1 ? LaneKind::comm : LaneKind::thread);
    case RecordType::metadata:
      return add_metadata(name, thread.name(record.word(0)));
    case RecordType::clock_pair:
      return saw(ticks);
    case RecordType::activity:
      return devices_.activity(record, thread.names);
    case RecordType::call:
      return devices_.call(record, thread.names);
    case RecordType::moment:
      return devices_.moment(record, thread.names);
    case RecordType::device:
      return devices_.device(record, thread.names);
    case RecordType::anchor:
    case RecordType::communicator:
    case RecordType::step_sums:
    case RecordType::thinned:
      return;  // known since the file was opened
  }
  builder_.quality().add(Counter::records_unknown);
}

/// A span that is left out stays on the stack: its end and its attributes are its own.
void SegmentDecoder::leave_out(Thread& thread, const Record& record) {
  const auto type = static_cast<RecordType>(record.head.type);
  if (type == RecordType::push) thread.open.push_back({.ticket = 0, .ticks = record.word(0), .is_left_out = true});
  if (type == RecordType::mark) thread.mark.reset();
  const bool is_event = type == RecordType::push || type == RecordType::range_start || type == RecordType::mark ||
                        type == RecordType::comm_enqueued;
  if (is_event && !thread.holds_sums) count_left_out(record.word(0));
}

void SegmentDecoder::decode_string(Thread& thread, const Record& record) {
  const std::uint64_t length = record.word(0);
  const auto bytes = record.body.subspan(std::min<std::size_t>(8, record.body.size()));
  const bool usable = length <= bytes.size() && record.head.name <= thread.names.size();
  if (!usable) return builder_.quality().add(Counter::names_lost);
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
  if (record.head.name == thread.names.size()) thread.names.emplace_back();
  thread.names[record.head.name] = builder_.intern(text);
}

void SegmentDecoder::add_attribute(Thread& thread, const Record& record, AttributeOf owner) {
  const auto type = static_cast<RecordType>(record.head.type);
  const StringId key = thread.name(record.head.name);
  const StringId text = thread.name(record.word(0));
  if (!key.is_set() || (holds_text(type) && !text.is_set())) return builder_.quality().add(Counter::names_lost);
  AttributeValue value{static_cast<std::int64_t>(record.word(0))};
  if (holds_text(type)) value = record.head.code == is_json ? AttributeValue{JsonText{text}} : AttributeValue{text};
  switch (owner) {
    case AttributeOf::span:
      if (!thread.open.empty() && !thread.open.back().is_left_out)
        builder_.add_attribute(thread.open.back().ticket, key, value);
      return;
    case AttributeOf::mark:
      if (thread.mark) builder_.add_mark_attribute(*thread.mark, key, value);
      return;
    case AttributeOf::range:
      return ranges_.attribute(record.word(1), key, value);
    case AttributeOf::comm:
      return comm_.attribute(record.word(1), key, value);
  }
}

void SegmentDecoder::add_metadata(StringId key, StringId value) {
  if (!key.is_set() || !value.is_set() || builder_.text(key) == injected_faults_key) return;
  if (const auto counter = counter_from(builder_.text(key))) return note_total(*counter, builder_.text(value));
  auto& metadata = builder_.process(process_).metadata;
  const auto known = std::ranges::find(metadata, key, &std::pair<StringId, StringId>::first);
  if (known == metadata.end()) {
    metadata.emplace_back(key, value);
    return;
  }
  const std::string now = value_after(builder_.text(key), builder_.text(known->second), builder_.text(value));
  known->second = builder_.intern(now);
}

// A process counts what it could not store itself; it reports totals, so the largest is the last.
void SegmentDecoder::note_total(Counter counter, std::string_view total) {
  auto& known = totals_[counter];
  known = std::max(known, leading_number<std::uint64_t>(total).value_or(0));
}

void SegmentDecoder::pop(Thread& thread, std::uint64_t ticks) {
  saw(thread.last_ticks = ticks);
  if (thread.open.empty()) return full_.since ? void() : builder_.quality().add(Counter::pop_without_push);
  if (!thread.open.back().is_left_out) builder_.end_span(thread.open.back().ticket, run_time(ticks));
  thread.open.pop_back();
}

RunTime SegmentDecoder::run_time(std::uint64_t ticks) {
  if (!piece_.holds(ticks)) piece_ = clock_.ticks.piece_at(ticks);
  return RunTime{piece_.host_time(ticks).time_since_epoch() + clock_.run_minus_host};
}

void SegmentDecoder::close_all(Thread& thread, std::uint64_t ticks) {
  std::erase_if(thread.open, [](const OpenSpan& open) { return open.is_left_out; });
  builder_.quality().add(Counter::spans_unclosed, thread.open.size());
  for (const OpenSpan& open : thread.open)
    builder_.end_span(open.ticket, run_time(std::max(ticks, open.ticks)), span_flag::cut_end);
  thread.open.clear();
}

// Open spans are drawn up to the last thing that the process is known to have done.
void SegmentDecoder::finish_spans() {
  std::erase_if(unclosed_, [](const OpenSpan& open) { return open.is_left_out; });
  builder_.quality().add(Counter::spans_unclosed, unclosed_.size());
  for (const OpenSpan& open : unclosed_)
    builder_.end_span(open.ticket, run_time(std::max(last_ticks_, open.ticks)), span_flag::cut_end);
}

/// True if the recorder stored only a part of the process's time: --window or --duration.
bool SegmentDecoder::was_switched_off() const {
  const auto& metadata = builder_.process(process_).metadata;
  return std::ranges::any_of(metadata, [this](const auto& fact) {
    const std::string_view key = builder_.text(fact.first);
    return key == "window" || key == "stopped_by";
  });
}

}  // namespace rankscope::recording
