// What is used of a process whose old events were thinned out.
#include <algorithm>
#include <iterator>

#include "recording/decode/segment_decoder.h"
#include "recording/format/segment_work.h"

namespace rankscope::recording {

/// True for an event of the time of which only sums are used. Samples are used from the beginning on, and so is what
/// has no end.
bool SegmentDecoder::is_left_out(const Record& record) {
  if (!full_.since) return false;
  bool is_unfinished = false;
  switch (static_cast<RecordType>(record.head.type)) {
    case RecordType::push:
      is_unfinished = unfinished_.pushes.contains(record.body.data());
      break;
    case RecordType::range_start:
      is_unfinished = unfinished_.ranges.contains(record.word(1));
      break;
    case RecordType::comm_enqueued:
    case RecordType::comm_started:
    case RecordType::comm_returned:
      is_unfinished = unfinished_.operations.contains(record.word(1));
      break;
    case RecordType::mark:
    case RecordType::comm_finished:
    case RecordType::range_end:
      break;
    default:
      return false;
  }
  return !is_unfinished && run_time(record.word(0)) < *full_.since;
}

/// Left out of the events that are still there.
void SegmentDecoder::count_left_out(std::uint64_t ticks) {
  const auto& steps = full_.without_sums;
  if (steps.empty()) return void(++left_out_);
  const RunTime time = run_time(ticks);
  const auto next = std::ranges::upper_bound(steps, time, {}, &TimeRange::begin);
  const bool is_lost = next != steps.begin() && std::prev(next)->contains(time);
  ++(is_lost ? left_out_without_sums_ : left_out_);
}

void SegmentDecoder::count_thinned() {
  std::uint64_t without_sums = 0;
  const bool only_samples = is_watched(segment_);  // their largest values are kept
  for (const ThinnedFields& fields : segment_.thinned)
    (fields.without_sums != 0 && !only_samples ? without_sums : left_out_) += fields.events;
  builder_.quality().add(Counter::events_thinned, left_out_);
  builder_.quality().add(Counter::events_without_sums, without_sums + left_out_without_sums_);
}

/// A span for each step that is there as sums only, on the thread that marked it.
void SegmentDecoder::add_step_sums() {
  if (!full_.first_step) return;
  for (const StepSums& sums : full_.own_sums.empty() ? segment_.step_sums : full_.own_sums) {
    const StepSumsFields& fields = sums.fields;
    const bool is_full = full_.since && run_time(fields.begin) >= *full_.since;
    if (fields.index >= *full_.first_step || is_full) continue;
    const LaneId lane = devices_.thread_lane(fields.os_thread);
    const TimeRange time{run_time(fields.begin), std::max(run_time(fields.begin), run_time(fields.end))};
    const std::uint32_t ticket = builder_.add_span(lane, kind_of(sums.kind), builder_.intern(sums.name), time);
    const auto add = [&](std::string_view key, std::int64_t value) {
      builder_.add_attribute(ticket, builder_.intern(key), value);
    };
    add("index", fields.index);
    add("thinned", 1);
    add("window_ns", std::max((run_time(fields.window_end) - time.begin).count(), std::int64_t{0}));
    add("compute_ns", fields.compute_ns);
    add("communication_ns", fields.communication_ns);
    add("copies_ns", fields.copies_ns);
    add("data_ns", fields.data_ns);
    add("wait_ns", fields.wait_ns);
    add("bytes", fields.bytes);
    add("operations", fields.operations);
    ++added_;
  }
}

}  // namespace rankscope::recording
