// Ranges that may start on one thread and end on another.
#include <algorithm>
#include <tuple>

#include "recording/decode/segment_decoder.h"

namespace rankscope::recording {

void RangeDecoder::start(const Range& range, std::uint64_t handle) {
  // A handle is used once; where one comes again, the end of the range before it is lost.
  if (const auto before = known_.find(handle); before != known_.end()) close(before->second, handle, range.ticks);
  Known& known = known_[handle] = {range, std::nullopt};
  const auto end = early_ends_.find(handle);
  if (end == early_ends_.end()) return;
  known.end = end->second;
  early_ends_.erase(end);
}

void RangeDecoder::end(std::uint64_t ticks, std::uint64_t handle) {
  const auto found = known_.find(handle);
  if (found == known_.end()) {
    if (!early_ends_.insert_or_assign(handle, ticks).second) builder_.quality().add(Counter::pop_without_push);
    return;
  }
  add(found->second.range, handle, ticks, 0);
  known_.erase(found);
}

LaneId RangeDecoder::lane() {
  if (!lane_.is_set()) lane_ = builder_.add_lane(process_, LaneKind::thread, "ranges", 0);
  return lane_;
}

void RangeDecoder::add(const Range& range, std::uint64_t handle, std::uint64_t end, std::uint8_t flags) {
  const TimeRange time{clock_.run_time(range.ticks), clock_.run_time(end)};
  const std::uint32_t ticket = builder_.add_span(lane(), range.kind, range.name, time, flags);
  if (const auto found = attributes_.find(handle); found != attributes_.end()) {
    for (const auto& [key, value] : found->second) builder_.add_attribute(ticket, key, value);
    attributes_.erase(found);
  }
  ++added_;
}

/// Adds a range; one whose end is not known ends at `at_last`.
void RangeDecoder::close(const Known& known, std::uint64_t handle, std::uint64_t at_last) {
  if (!known.end) builder_.quality().add(Counter::spans_unclosed);
  const std::uint64_t end = known.end.value_or(std::max(at_last, known.range.ticks));
  add(known.range, handle, end, known.end ? std::uint8_t{0} : span_flag::cut_end);
}

void RangeDecoder::finish(std::uint64_t last_ticks, Starts starts) {
  if (starts == Starts::all) builder_.quality().add(Counter::pop_without_push, early_ends_.size());
  std::vector<std::pair<std::uint64_t, Known>> rest{known_.begin(), known_.end()};
  std::ranges::sort(rest, {}, [](const auto& entry) {
    const Range& range = entry.second.range;
    return std::tuple{range.ticks, range.name, entry.first};
  });
  for (const auto& [handle, known] : rest) close(known, handle, last_ticks);
}

}  // namespace rankscope::recording
