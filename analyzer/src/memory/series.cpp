#include "memory/series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "rankscope/core/model/run.h"
#include "steps/range_kinds.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

// Which operator or annotation of the host was open when something was allocated.

/// Walks each thread once, so it has to be asked in order of time.
class PlaceFinder {
 public:
  explicit PlaceFinder(const Run& run) : run_(run), walks_(run.lanes().size()) {}

  [[nodiscard]] PlaceNames at(LaneId lane, RunTime time);

 private:
  struct Open {
    RunTime end;
    PlaceNames outside;
  };
  struct Walk {
    std::size_t next = 0;  // span of the lane
    std::vector<Open> open;
    PlaceNames place;
  };

  const Run& run_;
  std::vector<Walk> walks_;  // by lane
};

PlaceNames PlaceFinder::at(LaneId lane, RunTime time) {
  Walk& walk = walks_[lane.index()];
  const auto close_until = [&](RunTime now) {
    while (!walk.open.empty() && walk.open.back().end <= now) {
      walk.place = walk.open.back().outside;
      walk.open.pop_back();
    }
  };
  const auto spans = run_.spans_of(run_.lane(lane));
  for (; walk.next < spans.size() && spans[walk.next].time.begin <= time; ++walk.next) {
    const Span& span = spans[walk.next];
    const Holds held = holds(span.kind);
    if (held == Holds::nothing) continue;
    close_until(span.time.begin);
    walk.open.push_back({span.time.end, walk.place});
    if (held == Holds::range) {
      walk.place.range = span.name;
    } else {
      if (!walk.place.outer.is_set()) walk.place.outer = span.name;
      walk.place.op = span.name;
    }
  }
  close_until(time);
  PlaceNames place = walk.place;
  if (place.op.is_set()) place.range = {};
  if (place.outer == place.op) place.outer = {};
  return place;
}

constexpr std::int32_t most_devices = 1 << 20;

using SeriesKey = std::tuple<RankId, MemoryKind, std::int32_t>;

/// What a "[memory]" mark says, whoever wrote it.
struct Said {
  std::optional<std::int64_t> device_type;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> change;
  std::optional<std::int64_t> address;
  std::optional<std::int64_t> allocated;
  std::optional<std::int64_t> reserved;
  bool unreadable = false;  ///< a number that is none, or does not fit 64 bits
};

bool is_total(std::int64_t bytes) { return bytes >= 0 && bytes <= largest_memory; }

class Collector {
 public:
  explicit Collector(const Run& run) : run_(run), rank_of_(run.processes().size(), RankId::none()) {
    for (const RankId rank : run.ranks()) rank_of_[run.process_row_of(rank)] = rank;
    const auto known = [&](std::string_view name, std::optional<std::int64_t> Said::*field) {
      if (const StringId id = run.strings().find(name); id.is_set()) keys_.push_back({id, field});
    };
    known(keys::device_type, &Said::device_type);
    known(keys::device_id, &Said::device);
    known(keys::allocation, &Said::change);
    known(keys::address, &Said::address);
    known(keys::total_allocated, &Said::allocated);
    known(keys::total_reserved, &Said::reserved);
    known("bytes", &Said::change);  // of our own recorder, which writes the host's allocator only
    known("address", &Said::address);
    known("allocated_bytes", &Said::allocated);
  }

  std::vector<MemorySeries> collect() && {
    add_marks();
    std::vector<MemorySeries*> told(run_.processes().size(), nullptr);
    for (auto& [key, series] : series_) told[run_.process_row_of(series.rank)] = &series;
    for (const RankId rank : run_.ranks()) {
      MemorySeries* const series = told[run_.process_row_of(rank)];
      if (series == nullptr)
        add_counters(rank);
      else if (series->kind == MemoryKind::host)
        add_own_peak(*series);  // our own recorder writes both
    }
    std::vector<MemorySeries> all;
    for (auto& [key, series] : series_) all.push_back(std::move(series));
    return all;
  }

 private:
  struct KnownKey {
    StringId id;
    std::optional<std::int64_t> Said::*field;
  };

  void add_marks() {
    const StringId memory = run_.strings().find("[memory]");
    if (!memory.is_set()) return;
    PlaceFinder places{run_};
    for (const Mark& mark : run_.marks()) {
      if (mark.name != memory) continue;
      const RankId rank = rank_of_[run_.lane(mark.lane).process];
      if (!rank.is_set()) continue;
      const Said said = read(mark);
      MemorySeries& series = series_of(rank, said);
      if (const auto event = event_from(said)) {
        series.events.push_back(*event);
        series.events.back().time = mark.time;
        series.events.back().place = places.at(mark.lane, mark.time);
      } else {
        ++series.ignored;
      }
    }
    for (auto& [key, series] : series_) complete_totals(series);
  }

  [[nodiscard]] Said read(const Mark& mark) const {
    Said said;
    for (const Attribute& attribute : run_.attributes_of(mark)) {
      const auto key = std::ranges::find(keys_, attribute.key, &KnownKey::id);
      if (key == keys_.end()) continue;
      if (attribute.value.kind != AttributeKind::number)
        said.unreadable = said.unreadable || key->field != &Said::address;
      else if (!(said.*(key->field)))
        said.*(key->field) = attribute.value.number;
    }
    return said;
  }

  MemorySeries& series_of(RankId rank, const Said& said) {
    const MemoryKind kind = said.device_type.value_or(0) == 0 ? MemoryKind::host : MemoryKind::device;
    const std::int32_t device =
        kind == MemoryKind::host
            ? -1
            : static_cast<std::int32_t>(std::clamp<std::int64_t>(said.device.value_or(0), 0, most_devices));
    MemorySeries& series = series_[{rank, kind, device}];
    series.rank = rank;
    series.kind = kind;
    series.device = device;
    series.blocks = true;
    return series;
  }

  static std::optional<MemoryEvent> event_from(const Said& said) {
    const bool plausible = !said.unreadable && said.change && *said.change >= -largest_memory &&
                           *said.change <= largest_memory && is_total(said.allocated.value_or(0)) &&
                           is_total(said.reserved.value_or(0));
    if (!plausible) return std::nullopt;
    MemoryEvent event;
    event.change = *said.change;
    event.address = said.address;
    event.allocated = said.allocated.value_or(MemoryEvent::unknown);
    event.reserved = said.reserved.value_or(MemoryEvent::unknown);
    return event;
  }

  /// Nothing but changes are summed. A host's allocator has nothing in reserve, whatever it writes.
  static void complete_totals(MemorySeries& series) {
    const auto any = [&](std::int64_t MemoryEvent::*total) {
      return std::ranges::any_of(series.events,
                                 [&](const auto& event) { return event.*total != MemoryEvent::unknown; });
    };
    const bool totals = any(&MemoryEvent::allocated);
    series.has_reserved = series.kind == MemoryKind::device && any(&MemoryEvent::reserved);
    series.changes_only = !totals && !series.has_reserved;
    series.has_allocated = totals || series.changes_only;
    std::int64_t allocated = series.changes_only ? 0 : MemoryEvent::unknown;
    std::int64_t reserved = MemoryEvent::unknown;
    std::erase_if(series.events, [&](MemoryEvent& event) {
      if (event.reserved == MemoryEvent::unknown) event.reserved = reserved;
      reserved = event.reserved;
      if (totals && event.allocated == MemoryEvent::unknown && allocated != MemoryEvent::unknown)
        event.allocated = std::clamp<std::int64_t>(allocated + event.change, 0, largest_memory);
      if (totals && event.allocated != MemoryEvent::unknown) allocated = event.allocated;
      if (!series.changes_only) return false;
      const std::int64_t sum = allocated + event.change;
      const bool absurd = std::abs(sum) > largest_memory;
      if (absurd) ++series.ignored;
      if (!absurd) event.allocated = allocated = sum;
      return absurd;
    });
  }

  [[nodiscard]] const CounterTrack* track(RankId rank, std::string_view name) const {
    const auto process = run_.process_row_of(rank);
    for (const CounterTrack& one : run_.counters())
      if (one.process == process && run_.text(one.name) == name) return &one;
    return nullptr;
  }

  /// Samples of totals; what was freed between two of them is not seen.
  void add_counters(RankId rank) {
    MemorySeries series;
    series.rank = rank;
    series.kind = run_.has_accelerator(rank) ? MemoryKind::device : MemoryKind::host;
    if (series.kind == MemoryKind::device) series.device = first_device(rank);
    series.has_allocated = add_track(series, track(rank, "allocated_bytes"), &MemoryEvent::allocated);
    series.has_reserved = add_track(series, track(rank, "reserved_bytes"), &MemoryEvent::reserved);
    std::ranges::stable_sort(series.events, {}, &MemoryEvent::time);
    MemoryEvent last;
    for (MemoryEvent& event : series.events) {
      if (event.allocated == MemoryEvent::unknown) event.allocated = last.allocated;
      if (event.reserved == MemoryEvent::unknown) event.reserved = last.reserved;
      last = event;
    }
    add_own_peak(series);
    if (series.has_allocated || series.has_reserved)
      series_.try_emplace({rank, series.kind, series.device}, std::move(series));
  }

  void add_own_peak(MemorySeries& series) const {
    MemorySeries own;
    if (add_track(own, track(series.rank, "peak_allocated_bytes"), &MemoryEvent::allocated)) {
      series.own_peak = std::ranges::max(own.events, {}, &MemoryEvent::allocated).allocated;
      series.has_allocated = true;
    }
    series.ignored += own.ignored;
  }

  bool add_track(MemorySeries& series, const CounterTrack* track, std::int64_t MemoryEvent::*total) const {
    if (track == nullptr) return false;
    bool any = false;
    for (const CounterSample& sample : run_.samples_of(*track)) {
      if (!is_memory(sample.value)) {
        ++series.ignored;
        continue;
      }
      MemoryEvent event;
      event.time = sample.time;
      event.*total = std::llround(sample.value);
      series.events.push_back(event);
      any = true;
    }
    return any;
  }

  [[nodiscard]] std::int32_t first_device(RankId rank) const {
    const auto process = run_.process_row_of(rank);
    std::int32_t first = most_devices;
    for (const Lane& lane : run_.lanes())
      if (lane.process == process && lane.kind == LaneKind::stream) first = std::min(first, lane.device);
    return std::max(first, 0);
  }

  const Run& run_;
  std::vector<RankId> rank_of_;  // by process; none where it does not stand for its rank
  std::vector<KnownKey> keys_;
  std::map<SeriesKey, MemorySeries> series_;
};

}  // namespace

std::vector<MemorySeries> memory_series(const Run& run) { return Collector{run}.collect(); }

MemorySeries resident_series(const Run& run, RankId rank) {
  MemorySeries samples;
  samples.rank = rank;
  samples.kind = MemoryKind::host;
  samples.has_allocated = true;
  const auto process = run.process_row_of(rank);
  for (const CounterTrack& track : run.counters()) {
    if (track.process != process || run.text(track.name) != "rss_bytes") continue;
    for (const CounterSample& sample : run.samples_of(track))
      if (is_memory(sample.value))
        samples.events.push_back({.time = sample.time, .allocated = std::llround(sample.value)});
  }
  return samples;
}

bool is_memory(double bytes) { return bytes >= 0 && bytes <= static_cast<double>(largest_memory); }

}  // namespace rankscope::analyzer
