#include "recording/decode/full_part.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "recording/live/decoder.h"

namespace rankscope::recording {
namespace {

/// Ticks before which events were given up; 0: none were.
std::uint64_t cut_of(const SegmentFile& segment) {
  std::uint64_t cut = 0;
  for (const ThinnedFields& fields : segment.thinned) cut = std::max(cut, fields.cut);
  return cut;
}

/// The first step of which all events are there; nothing if the segment has no sums of steps.
std::optional<std::int64_t> first_full_step(const SegmentFile& segment, std::uint64_t cut) {
  if (segment.step_sums.empty()) return std::nullopt;
  for (const StepSums& sums : segment.step_sums)
    if (sums.fields.begin >= cut) return sums.fields.index;
  return segment.step_sums.back().fields.index + 1;
}

/// When a step begins, as far as the sums tell.
std::optional<std::uint64_t> begin_of(const std::vector<StepSums>& all, std::int64_t step) {
  for (const StepSums& sums : all) {
    if (sums.fields.index == step) return sums.fields.begin;
    if (sums.fields.index == step - 1) {
      // The next one may have no sums yet.
      const bool is_last = &sums == &all.back();
      if (is_last) return sums.fields.window_end;
    }
  }
  return std::nullopt;
}

/// Of a process that nobody thinned out, as a recorder would have made them.
std::vector<StepSums> sums_of_events(const SegmentFile& segment) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const LiveLimits limits{
      .steps = all, .values = 2, .stretches = all, .device_delay = nanoseconds{0}, .host_delay = nanoseconds{0}};
  LiveDecoder decoder{segment.fixed, limits, StepLength::to_the_next};
  for (const Chunk& chunk : segment.chunks) decoder.take({chunk.thread, true, chunk.payload, chunk.os_thread});
  decoder.settle_last({});
  std::vector<StepSums> sums;
  for (SettledStep& settled : decoder.take_settled())
    if (settled.has_sums) sums.push_back(std::move(settled.sums));
  return sums;
}

/// When a process was recorded, and the first step of which it has all events, if it lacks some.
struct Attempt {
  RunTime begin{};
  RunTime end{};
  std::optional<std::int64_t> first_full{};
};

Attempt attempt_of(const SegmentFile& segment, const SegmentClock& clock, std::uint64_t cut) {
  std::uint64_t last = segment.counters.end_ticks;
  for (const ClockPair& pair : segment.clock_pairs) last = std::max(last, pair.ticks);
  return {clock.run_time(segment.fixed.first_pair.ticks), clock.run_time(last),
          cut > 0 ? first_full_step(segment, cut) : std::nullopt};
}

/// Of all processes that were recorded at the same time as this one: a job that is started again counts its steps anew.
std::optional<std::int64_t> common_first(std::span<const Attempt> attempts, const Attempt& own) {
  std::optional<std::int64_t> first;
  for (const Attempt& other : attempts) {
    const bool overlaps = other.begin <= own.end && own.begin <= other.end;
    if (other.first_full && overlaps) first = std::max(first.value_or(*other.first_full), *other.first_full);
  }
  return first;
}

}  // namespace

std::vector<FullPart> full_parts(std::span<const SegmentFile* const> segments, std::span<const SegmentClock> clocks) {
  std::vector<FullPart> parts(segments.size());
  std::vector<std::uint64_t> cuts;
  std::vector<Attempt> attempts;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    cuts.push_back(cut_of(*segments[i]));
    attempts.push_back(attempt_of(*segments[i], clocks[i], cuts[i]));
  }
  const bool any_thinned = std::ranges::any_of(attempts, [](const Attempt& one) { return one.first_full.has_value(); });
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentFile& segment = *segments[i];
    const auto first = any_thinned ? common_first(attempts, attempts[i]) : std::nullopt;
    if (first && segment.step_sums.empty() && cuts[i] == 0) parts[i].own_sums = sums_of_events(segment);
    const auto& sums = segment.step_sums.empty() ? parts[i].own_sums : segment.step_sums;
    const auto begin = first ? begin_of(sums, *first) : std::nullopt;
    const std::uint64_t since = std::max(cuts[i], begin.value_or(0));
    if (since == 0) continue;
    parts[i].since = clocks[i].run_time(since);
    // A rank that never came so far is used from its own first full step on.
    parts[i].first_step = begin ? first : first_full_step(segment, cuts[i]);
  }
  return parts;
}

}  // namespace rankscope::recording
