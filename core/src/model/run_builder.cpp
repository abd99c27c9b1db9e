#include "run_builder_pending.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "rankscope/core/model/run.h"
#include "span_order.h"

namespace rankscope {
namespace {

constexpr std::uint32_t none = 0xFFFFFFFF;

Permutation with_places(std::vector<std::uint32_t> order) {
  if (std::ranges::is_sorted(order)) return {};
  Permutation result{std::move(order), {}};
  result.place_of.resize(result.order.size());
  for (std::uint32_t place = 0; place < result.order.size(); ++place) result.place_of[result.order[place]] = place;
  return result;
}

template <class Less>
Permutation sorted_order(std::size_t size, Less less) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  if (!std::ranges::is_sorted(order, less)) std::ranges::stable_sort(order, less);
  return with_places(std::move(order));
}

template <class T>
void permute(std::vector<T>& rows, const Permutation& permutation) {
  if (!permutation.moves()) return;
  std::vector<T> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t old : permutation.order) sorted.push_back(std::move(rows[old]));
  rows = std::move(sorted);
}

/// The table of places may be shorter than the rows it belongs to.
void permute_places(std::vector<AttributeStore::Place>& places, const Permutation& permutation) {
  if (places.empty() || !permutation.moves()) return;
  places.resize(permutation.order.size(), AttributeStore::nowhere);
  permute(places, permutation);
}

/// Unset ids sort last because their value is the largest.
auto lane_order(const StringTable& strings, const Lane& lane) {
  return std::tuple{lane.process, lane.kind, strings.text(lane.name), lane.number};
}

}  // namespace

RunBuilder::RunBuilder(Texts texts) : run_(new Run), pending_(std::make_unique<Pending>(texts)) {}
RunBuilder::~RunBuilder() = default;

RunInfo& RunBuilder::info() { return run_->info_; }
Quality& RunBuilder::quality() { return run_->quality_; }
std::string_view RunBuilder::text(StringId id) const { return run_->strings_.text(id); }
Process& RunBuilder::process(std::uint32_t row) { return run_->processes_[row]; }
std::span<const Lane> RunBuilder::lanes() const { return run_->lanes_; }
std::span<const Span> RunBuilder::spans() const { return run_->spans_; }

std::uint32_t RunBuilder::add_process(Process process) {
  run_->processes_.push_back(std::move(process));
  return static_cast<std::uint32_t>(run_->processes_.size() - 1);
}

LaneId RunBuilder::add_lane(std::uint32_t process, LaneKind kind, std::string_view name, std::int64_t number,
                            std::int32_t device) {
  RS_CHECK(process < run_->processes_.size());
  run_->lanes_.push_back(
      {.rank = {}, .process = process, .kind = kind, .name = intern(name), .number = number, .device = device});
  return LaneId{static_cast<std::uint32_t>(run_->lanes_.size() - 1)};
}

void RunBuilder::rename_lane(LaneId ticket, std::string_view name, LaneKind kind) {
  Lane& lane = run_->lanes_[ticket.index()];
  lane.name = intern(name);
  lane.kind = kind;
}

std::uint32_t RunBuilder::add_span(LaneId lane, SpanKind kind, StringId name, TimeRange time, std::uint8_t flags) {
  if (time.end < time.begin) {
    time.end = time.begin;
    run_->quality_.add(Counter::negative_duration);
  }
  run_->spans_.push_back({.time = time, .name = known(name), .lane = lane, .kind = kind, .flags = flags});
  return static_cast<std::uint32_t>(run_->spans_.size() - 1);
}

void RunBuilder::end_span(std::uint32_t ticket, RunTime end, std::uint8_t flags) {
  Span& span = run_->spans_[ticket];
  if (end < span.time.begin) run_->quality_.add(Counter::negative_duration);
  span.time.end = std::max(end, span.time.begin);
  span.flags |= flags;
}

void RunBuilder::add_attributes(std::uint32_t span_ticket, std::span<const Attribute> attributes) {
  RS_CHECK(span_ticket < run_->spans_.size());
  pending_->describe(*run_, {run_->span_attributes_, span_ticket, pending_->late_of_spans}, attributes);
}

void RunBuilder::reclassify(std::uint32_t span_ticket, SpanKind kind, std::uint8_t flags) {
  RS_CHECK(span_ticket < run_->spans_.size());
  run_->spans_[span_ticket].kind = kind;
  run_->spans_[span_ticket].flags = flags;
}

void RunBuilder::add_attribute(std::uint32_t span_ticket, StringId key, AttributeValue value) {
  const Attribute attribute{key, value};
  add_attributes(span_ticket, {&attribute, 1});
}

std::uint32_t RunBuilder::add_mark(LaneId lane, StringId name, RunTime time) {
  run_->marks_.push_back({time, lane, known(name)});
  return static_cast<std::uint32_t>(run_->marks_.size() - 1);
}

void RunBuilder::add_mark_attributes(std::uint32_t mark_ticket, std::span<const Attribute> attributes) {
  RS_CHECK(mark_ticket < run_->marks_.size());
  pending_->describe(*run_, {run_->mark_attributes_, mark_ticket, pending_->late_of_marks}, attributes);
}

void RunBuilder::add_mark_attribute(std::uint32_t mark_ticket, StringId key, AttributeValue value) {
  const Attribute attribute{key, value};
  add_mark_attributes(mark_ticket, {&attribute, 1});
}

void RunBuilder::add_link(LinkKind kind, std::uint32_t from_ticket, std::uint32_t to_ticket) {
  RS_CHECK(from_ticket < run_->spans_.size() && to_ticket < run_->spans_.size());
  run_->links_.push_back({kind, SpanId{from_ticket}, SpanId{to_ticket}});
}

void RunBuilder::add_device(Device device) {
  RS_CHECK(device.process < run_->processes_.size());
  run_->devices_.push_back(std::move(device));
}

GroupId RunBuilder::add_group(std::string_view name, std::span<const RankId> members) {
  const StringId id = intern(name);
  const auto [found, added] = pending_->groups.try_emplace({id.value, {members.begin(), members.end()}},
                                                           GroupId{static_cast<std::uint32_t>(run_->groups_.size())});
  if (added) run_->groups_.push_back({id, {members.begin(), members.end()}});
  return found->second;
}

void RunBuilder::add_collective(const NewCollective& from) {
  run_->collectives_.push_back({.rank = from.rank,
                                .group = from.group,
                                .op = from.op,
                                .dtype = from.dtype,
                                .sequence = from.sequence,
                                .bytes = from.bytes,
                                .peer = from.peer,
                                .state = from.state,
                                .enqueued = from.enqueued,
                                .started = from.started,
                                .finished = from.finished,
                                .lane = from.lane,
                                .enqueued_on = from.enqueued_on,
                                .span = {}});
  pending_->collective_span.push_back(from.span_ticket);
}

void RunBuilder::add_sample(std::uint32_t process, StringId counter, RunTime time, double value) {
  RS_CHECK(process < run_->processes_.size());
  pending_->samples.push_back({process, counter, {time, value}});
}

AttributeRange RunBuilder::attributes_of(std::uint32_t span_ticket) const {
  if (span_ticket >= run_->span_attributes_.size()) return {};
  return run_->attributes_.at(run_->span_attributes_[span_ticket]);
}

void RunBuilder::shift(std::span<const nanoseconds> by_process) {
  RS_CHECK(by_process.size() == run_->processes_.size());
  std::vector<nanoseconds> by_lane;
  for (const Lane& lane : run_->lanes_) by_lane.push_back(by_process[lane.process]);
  for (Span& span : run_->spans_) {
    span.time.begin += by_lane[span.lane.index()];
    span.time.end += by_lane[span.lane.index()];
  }
  for (Mark& mark : run_->marks_) mark.time += by_lane[mark.lane.index()];
  for (Collective& collective : run_->collectives_) {
    const LaneId lane = collective.lane.is_set() ? collective.lane : collective.enqueued_on;
    RS_CHECK(lane.is_set());
    collective.enqueued += by_lane[lane.index()];
    if (collective.state != CommState::enqueued) collective.started += by_lane[lane.index()];
    if (collective.state == CommState::finished) collective.finished += by_lane[lane.index()];
  }
  for (PendingSample& sample : pending_->samples) sample.sample.time += by_process[sample.process];
  for (std::size_t row = 0; row < run_->processes_.size(); ++row) {
    TimeRange& recorded = run_->processes_[row].recorded;
    if (recorded == TimeRange{}) continue;  // build() finds it
    recorded.begin += by_process[row];
    recorded.end += by_process[row];
  }
}

Result<std::shared_ptr<const Run>> RunBuilder::build() && {
  Run& run = *run_;
  if (run.processes_.empty()) return fail(ErrorKind::unreadable, "it contains no process");
  if (run.spans_.empty() && run.marks_.empty() && run.collectives_.empty() && pending_->samples.empty())
    return fail(ErrorKind::unreadable, "it contains no events");
  pending_->settle(run);
  pending_->hide_facts(run);
  pending_->sort_processes(run);
  pending_->sort_lanes(run);
  pending_->sort_spans(run);
  Pending::sort_collectives(run);
  pending_->make_counters(run);
  Pending::choose_ranks(run);
  Pending::find_accelerators(run);
  Pending::find_contested_ranks(run);
  Pending::measure(run);
  return std::shared_ptr<const Run>{std::move(run_)};
}

void RunBuilder::Pending::sort_processes(Run& run) {
  const auto order = sorted_order(run.processes_.size(), [&run](std::uint32_t a, std::uint32_t b) {
    const Process& left = run.processes_[a];
    const Process& right = run.processes_[b];
    return std::tuple{left.rank, left.pid} < std::tuple{right.rank, right.pid};
  });
  permute(run.processes_, order);
  for (Process& process : run.processes_)
    std::ranges::stable_sort(process.metadata, {}, [&run](const auto& entry) { return run.text(entry.first); });
  for (Lane& lane : run.lanes_) {
    lane.process = order.place(lane.process);
    lane.rank = run.processes_[lane.process].rank;
  }
  for (PendingSample& sample : samples) sample.process = order.place(sample.process);
  sort_devices(run, order);
  unite_facts(run.info_.metadata);
}

void RunBuilder::Pending::sort_lanes(Run& run) {
  const auto order = sorted_order(run.lanes_.size(), [&run](std::uint32_t a, std::uint32_t b) {
    return lane_order(run.strings_, run.lanes_[a]) < lane_order(run.strings_, run.lanes_[b]);
  });
  permute(run.lanes_, order);
  if (order.moves()) move_lanes(run, order);
  sort_marks(run);
}

void RunBuilder::Pending::move_lanes(Run& run, const Permutation& order) {
  const auto move = [&order](LaneId& lane) {
    if (lane.is_set()) lane = LaneId{order.place_of[lane.index()]};
  };
  for (Span& span : run.spans_) move(span.lane);
  for (Mark& mark : run.marks_) move(mark.lane);
  for (Collective& collective : run.collectives_) {
    move(collective.lane);
    move(collective.enqueued_on);
  }
}

void RunBuilder::Pending::sort_devices(Run& run, const Permutation& processes) {
  for (Device& device : run.devices_) {
    device.process = processes.place(device.process);
    std::ranges::stable_sort(device.metadata, {}, [&run](const auto& entry) { return run.text(entry.first); });
  }
  std::ranges::stable_sort(run.devices_, {}, [](const Device& device) {
    return std::tuple{device.process, device.ordinal};
  });
}

void RunBuilder::Pending::sort_marks(Run& run) {
  const auto order = sorted_order(run.marks_.size(), [&run](std::uint32_t a, std::uint32_t b) {
    const Mark& left = run.marks_[a];
    const Mark& right = run.marks_[b];
    return std::tuple{left.time, left.lane} < std::tuple{right.time, right.lane};
  });
  permute(run.marks_, order);
  permute_places(run.mark_attributes_, order);
}

void RunBuilder::Pending::sort_links(Run& run, const Permutation& spans) {
  for (Link& link : run.links_) {
    link.from = SpanId{spans.place(link.from.value)};
    link.to = SpanId{spans.place(link.to.value)};
  }
  std::ranges::sort(run.links_, {}, [](const Link& link) { return std::tuple{link.kind, link.to, link.from}; });
}

void RunBuilder::Pending::sort_spans(Run& run) {
  const auto order = with_places(span_order(run.spans_, run.lanes_.size()));
  permute(run.spans_, order);
  permute_places(run.span_attributes_, order);
  run.attributes_.shrink();
  sort_links(run, order);
  for (std::size_t i = 0; i < run.collectives_.size(); ++i)
    if (collective_span[i] != none) run.collectives_[i].span = SpanId{order.place(collective_span[i])};
  close_lanes(run);
}

// Depth = spans of the lane that contain this one; a span that only overlaps its predecessor does not contain it.
void RunBuilder::Pending::close_lanes(Run& run) {
  std::vector<RunTime> open;
  for (std::size_t i = 0; i < run.spans_.size(); ++i) {
    Span& span = run.spans_[i];
    Lane& lane = run.lanes_[span.lane.index()];
    if (lane.span_count++ == 0) {
      lane.first_span = static_cast<std::uint32_t>(i);
      open.clear();
    }
    while (!open.empty() && (open.back() <= span.time.begin || open.back() < span.time.end)) open.pop_back();
    span.depth = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), 0xFFFF));
    open.push_back(span.time.end);
  }
}

/// Puts the rows in their order and stores their places in their spans.
void RunBuilder::Pending::order_collectives(Run& run) {
  const auto order = sorted_order(run.collectives_.size(), [&run](std::uint32_t a, std::uint32_t b) {
    const Collective& left = run.collectives_[a];
    const Collective& right = run.collectives_[b];
    return std::tuple{left.rank, left.group, left.sequence, left.enqueued} <
           std::tuple{right.rank, right.group, right.sequence, right.enqueued};
  });
  permute(run.collectives_, order);
  for (std::uint32_t row = 0; row < run.collectives_.size(); ++row) {
    const Collective& collective = run.collectives_[row];
    if (collective.span.is_set()) run.spans_[collective.span.index()].collective = row;
  }
}

void RunBuilder::Pending::sort_collectives(Run& run) {
  order_collectives(run);
  for (const Collective& collective : run.collectives_)
    if (collective.state != CommState::finished) run.quality_.add(Counter::collectives_open);
}

/// Sorts the samples by track, which is (process, name), and time.
void RunBuilder::Pending::sort_samples(const Run& run) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  std::vector<PendingSample> first;     // of each track
  std::vector<std::uint32_t> track_of;  // by sample
  track_of.reserve(samples.size());
  for (const PendingSample& pending : samples) {
    const auto key = std::uint64_t{pending.process} << 32U | pending.counter.value;
    const auto [track, added] = known.try_emplace(key, static_cast<std::uint32_t>(first.size()));
    if (added) first.push_back(pending);
    track_of.push_back(track->second);
  }
  const auto tracks = sorted_order(first.size(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair{first[a].process, run.text(first[a].counter)} <
           std::pair{first[b].process, run.text(first[b].counter)};
  });
  for (std::uint32_t& track : track_of) track = tracks.place(track);
  permute(samples, sorted_order(samples.size(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair{track_of[a], samples[a].sample.time} < std::pair{track_of[b], samples[b].sample.time};
          }));
}

void RunBuilder::Pending::make_counters(Run& run) {
  sort_samples(run);
  run.samples_.reserve(samples.size());
  for (const PendingSample& pending : samples) {
    const auto row = static_cast<std::uint32_t>(run.samples_.size());
    if (run.counters_.empty() || run.counters_.back().process != pending.process ||
        run.counters_.back().name != pending.counter)
      run.counters_.push_back({run.processes_[pending.process].rank, pending.process, pending.counter, row, 0});
    ++run.counters_.back().sample_count;
    run.samples_.push_back(pending.sample);
  }
}

void RunBuilder::Pending::measure(Run& run) {
  std::optional<TimeRange> extent;
  const auto include = [&extent](RunTime begin, RunTime end) {
    if (!extent) extent = TimeRange{begin, end};
    extent->begin = std::min(extent->begin, begin);
    extent->end = std::max(extent->end, end);
  };
  for (const Span& span : run.spans_) include(span.time.begin, span.time.end);
  for (const Mark& mark : run.marks_) include(mark.time, mark.time);
  for (const CounterSample& sample : run.samples_) include(sample.time, sample.time);
  for (const Collective& collective : run.collectives_) include(collective.enqueued, collective.enqueued);
  run.extent_ = extent.value_or(TimeRange{});
  for (Process& process : run.processes_)
    if (process.recorded == TimeRange{}) process.recorded = run.extent_;
}

}  // namespace rankscope
