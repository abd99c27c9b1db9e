#include "recording/decode/full_part.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "recording/decode/chunk_ticks.h"
#include "recording/format/segment_work.h"
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

constexpr std::uint64_t no_time = std::numeric_limits<std::uint64_t>::max();

/// When a moment on the clock of activities was, in ticks and about: this only puts chunks in order.
class ActivityClock {
 public:
  explicit ActivityClock(const SegmentFile& segment) : ticks_per_ns_(segment.fixed.ticks_per_ns) {
    for (const Anchor& anchor : segment.anchors)
      if (anchor.clock == ForeignClock::activities) shown_.push_back({anchor.ns, anchor.ticks});
    if (shown_.empty())
      for (const ClockPair& pair : segment.clock_pairs) shown_.push_back({pair.realtime_ns, pair.ticks});
    std::ranges::sort(shown_, {}, &Shown::ns);
  }
  [[nodiscard]] std::uint64_t ticks_at(std::int64_t ns) const {
    if (shown_.empty()) return no_time;
    auto near = std::ranges::upper_bound(shown_, ns, {}, &Shown::ns);
    if (near != shown_.begin()) --near;
    const double later = (static_cast<double>(ns) - static_cast<double>(near->ns)) * ticks_per_ns_;
    return static_cast<std::uint64_t>(std::clamp(static_cast<double>(near->ticks) + later, 0.0, 1e18));
  }

 private:
  struct Shown {
    std::int64_t ns = 0;
    std::uint64_t ticks = 0;
  };
  std::vector<Shown> shown_;
  double ticks_per_ns_;
};

/// A chunk, and a time before which nothing happened that is in it or in one of those after it.
struct Timed {
  const Chunk* chunk = nullptr;
  std::uint64_t ticks = no_time;
  bool is_exact = true;  ///< told by ticks, not by another clock
};

Timed timed(const Chunk& chunk, const ActivityClock& clock) {
  if (const auto ticks = ticks_of(chunk)) return {&chunk, ticks->first};
  std::optional<std::int64_t> first_ns;
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);) {
    const auto type = static_cast<RecordType>(record.head.type);
    if (type != RecordType::activity && type != RecordType::call && type != RecordType::moment) continue;
    const auto begin = static_cast<std::int64_t>(record.word(0));
    if (begin > 0) first_ns = std::min(first_ns.value_or(begin), begin);
  }
  return first_ns ? Timed{&chunk, clock.ticks_at(*first_ns), false} : Timed{&chunk};
}

/// Those of a thread in their order, the threads side by side, as their process wrote them.
std::vector<Timed> in_order_of_time(const SegmentFile& segment) {
  const ActivityClock clock{segment};
  std::vector<Timed> all;
  for (const Chunk& chunk : segment.chunks) all.push_back(timed(chunk, clock));
  for (std::size_t i = all.size(); i-- > 1;)
    if (all[i - 1].chunk->thread == all[i].chunk->thread) all[i - 1].ticks = std::min(all[i - 1].ticks, all[i].ticks);
  std::ranges::stable_sort(all, {}, &Timed::ticks);
  return all;
}

/// Of a process that nobody thinned out, as a recorder would have made them.
std::vector<SettledStep> steps_of_events(const SegmentFile& segment) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t bytes_apart = std::size_t{1} << 20;
  const LiveLimits limits{
      .steps = all, .values = 2, .stretches = all, .device_delay = nanoseconds{0}, .host_delay = nanoseconds{0}};
  LiveDecoder decoder{segment.fixed, limits, StepLength::to_the_next};
  const std::vector<Timed> chunks = in_order_of_time(segment);
  const bool all_exact = std::ranges::all_of(chunks, &Timed::is_exact);
  const nanoseconds inexact{all_exact ? 0 : 100'000'000};
  std::size_t bytes = 0;
  for (const Timed& next : chunks) {
    if (bytes >= bytes_apart && next.ticks != no_time) {
      decoder.settle_until(decoder.time_at(next.ticks) - inexact);
      bytes = 0;
    }
    decoder.take({next.chunk->thread, true, next.chunk->payload, next.chunk->os_thread});
    bytes += next.chunk->payload.size();
  }
  decoder.settle_last({});
  return decoder.take_settled();
}

void add_own_sums(const SegmentFile& segment, const SegmentClock& clock, FullPart& part) {
  for (SettledStep& step : steps_of_events(segment)) {
    const StepSumsFields& fields = step.sums.fields;
    if (step.has_sums)
      part.own_sums.push_back(std::move(step.sums));
    else
      part.without_sums.push_back({clock.run_time(fields.begin), clock.run_time(fields.window_end)});
  }
}

/// When a process was recorded, and what it lacks.
struct Attempt {
  RunTime begin{};
  RunTime end{};
  std::optional<std::int64_t> first_full{};  ///< step of which it has all events, if it lacks some
  std::optional<RunTime> cut{};              ///< of a rank without steps
};

/// The last moment from which anything is known.
std::uint64_t last_ticks(const SegmentFile& segment, std::uint64_t cut) {
  std::uint64_t last = std::max(segment.counters.end_ticks, cut);
  for (const ClockPair& pair : segment.clock_pairs) last = std::max(last, pair.ticks);
  if (!segment.step_sums.empty()) last = std::max(last, segment.step_sums.back().fields.window_end);
  for (std::size_t i = 0; i < segment.chunks.size(); ++i) {
    const Chunk& chunk = segment.chunks[i];
    const bool is_last = i + 1 == segment.chunks.size() || segment.chunks[i + 1].thread != chunk.thread;
    if (const auto ticks = is_last ? ticks_of(chunk) : std::nullopt) last = std::max(last, ticks->last);
  }
  return last;
}

/// A process whose events are compared with those of others.
bool is_compared(const SegmentFile& segment) { return has_rank(segment) && !is_watched(segment); }

Attempt attempt_of(const SegmentFile& segment, const SegmentClock& clock, std::uint64_t cut) {
  Attempt attempt{clock.run_time(segment.fixed.first_pair.ticks), clock.run_time(last_ticks(segment, cut))};
  if (cut > 0) attempt.first_full = first_full_step(segment, cut);
  if (cut > 0 && !attempt.first_full && is_compared(segment)) attempt.cut = clock.run_time(cut);
  return attempt;
}

bool overlap(const Attempt& one, const Attempt& other) { return other.begin <= one.end && one.begin <= other.end; }

/// Of all processes that were recorded at the same time as this one: a job that is started again counts its steps anew.
std::optional<std::int64_t> common_first(std::span<const Attempt> attempts, const Attempt& own) {
  std::optional<std::int64_t> first;
  for (const Attempt& other : attempts)
    if (other.first_full && overlap(own, other)) first = std::max(first.value_or(*other.first_full), *other.first_full);
  return first;
}

/// The latest moment from which on all such ranks without steps have their events; nothing if all of them are whole, or
/// if this one had ended by then.
std::optional<RunTime> common_cut(std::span<const Attempt> attempts, const Attempt& own) {
  std::optional<RunTime> cut;
  for (const Attempt& other : attempts)
    if (other.cut && overlap(own, other)) cut = std::max(cut.value_or(*other.cut), *other.cut);
  return cut && *cut <= own.end ? cut : std::nullopt;
}

/// Of a process with steps, as far as the ranks have the same ones.
void begin_with_step(std::int64_t first, const SegmentFile& segment, const SegmentClock& clock, std::uint64_t cut,
                     FullPart& part) {
  // Its recorder may have stored sums of the first steps only, and given nothing up.
  if (cut == 0 && !begin_of(segment.step_sums, first)) add_own_sums(segment, clock, part);
  const auto& sums = part.own_sums.empty() ? segment.step_sums : part.own_sums;
  const auto begin = begin_of(sums, first);
  const std::uint64_t since = std::max(cut, begin.value_or(0));
  if (since == 0) return;
  part.since = clock.run_time(since);
  // A rank that never came so far is used from its own first full step on.
  part.first_step = begin ? std::optional{first} : first_full_step(segment, cut);
}

/// Of one without.
void begin_with_cut(std::optional<RunTime> common, const SegmentFile& segment, const SegmentClock& clock,
                    std::uint64_t cut, FullPart& part) {
  if (cut > 0) part.since = clock.run_time(cut);
  if (!common || !is_compared(segment)) return;
  const bool may_have_steps = cut == 0;
  if (may_have_steps && (!segment.step_sums.empty() || !steps_of_events(segment).empty())) return;
  part.since = std::max(part.since.value_or(*common), *common);
}

}  // namespace

std::vector<FullPart> full_parts(std::span<const SegmentFile* const> segments, std::span<const SegmentClock> clocks) {
  std::vector<FullPart> parts(segments.size());
  std::vector<std::uint64_t> cuts;
  std::vector<Attempt> attempts;
  for (const SegmentFile* const segment : segments) cuts.push_back(cut_of(*segment));
  if (std::ranges::all_of(cuts, [](std::uint64_t cut) { return cut == 0; })) return parts;
  for (std::size_t i = 0; i < segments.size(); ++i) attempts.push_back(attempt_of(*segments[i], clocks[i], cuts[i]));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool has_no_steps = cuts[i] > 0 && segments[i]->step_sums.empty();
    const auto first = common_first(attempts, attempts[i]);
    if (first && !has_no_steps) begin_with_step(*first, *segments[i], clocks[i], cuts[i], parts[i]);
    if (!parts[i].since) begin_with_cut(common_cut(attempts, attempts[i]), *segments[i], clocks[i], cuts[i], parts[i]);
  }
  return parts;
}

}  // namespace rankscope::recording
