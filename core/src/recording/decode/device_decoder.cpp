#include "recording/decode/device_decoder.h"

#include <algorithm>
#include <cstring>

#include "rankscope/core/format.h"

namespace rankscope::recording {
namespace {

constexpr std::int64_t longest_ns = 86'400'000'000'000;        // of one activity
constexpr std::int64_t beyond_anchors_ns = 3'600'000'000'000;  // clocks are anchored about once a second
constexpr std::uint64_t closest_anchors_ns = 200'000'000;

template <class Fields>
Fields fields_of(const Record& record) {
  Fields fields{};
  std::memcpy(static_cast<void*>(&fields), record.body.data(), std::min(sizeof fields, record.body.size()));
  return fields;
}

bool launches_kernels(std::string_view call) {
  return call.find("LaunchKernel") != std::string_view::npos ||
         call.find("LaunchCooperative") != std::string_view::npos;
}

/// Work that a call puts on a stream; a wait is the call itself.
bool is_launched(SpanKind kind) {
  return kind == SpanKind::compute || kind == SpanKind::comm || kind == SpanKind::memory || kind == SpanKind::graph;
}

}  // namespace

DeviceDecoder::DeviceDecoder(RunBuilder& builder, const SegmentFile& segment, const SegmentClock& clock,
                             std::uint32_t process)
    : builder_(builder),
      pid_(segment.fixed.pid),
      process_(process),
      run_minus_host_(clock.run_minus_host),
      activities_(clock_of(segment, clock, ForeignClock::activities)),
      globaltimer_(clock_of(segment, clock, ForeignClock::globaltimer)) {}

std::optional<DeviceDecoder::Clock> DeviceDecoder::clock_of(const SegmentFile& segment, const SegmentClock& clock,
                                                            ForeignClock which) {
  std::vector<ClockPair> pairs;
  const auto add = [&](std::int64_t foreign_ns, std::uint64_t ticks) {
    if (foreign_ns > 0)
      pairs.push_back(
          {static_cast<std::uint64_t>(foreign_ns), clock.ticks.host_time(ticks).time_since_epoch().count(), 0});
  };
  for (const Anchor& anchor : segment.anchors)
    if (anchor.clock == which) add(anchor.ns, anchor.ticks);
  if (pairs.empty() && which == ForeignClock::activities)
    for (const ClockPair& pair : segment.clock_pairs) add(pair.realtime_ns, pair.ticks);
  if (pairs.empty()) return std::nullopt;
  // Both clocks run as fast as each other but for a few parts in a million; a reading is off by some 100 ns. Of
  // readings close to each other the difference would be noise.
  std::ranges::sort(pairs, {}, &ClockPair::ticks);
  std::vector<ClockPair> apart;
  for (const ClockPair& pair : pairs)
    if (apart.empty() || pair.ticks - apart.back().ticks >= closest_anchors_ns) apart.push_back(pair);
  pairs = std::move(apart);
  const auto [first, last] = std::ranges::minmax(pairs, {}, &ClockPair::ticks);
  return Clock{.host_ns = TickMap{std::move(pairs), 1},
               .first_ns = static_cast<std::int64_t>(first.ticks),
               .last_ns = static_cast<std::int64_t>(last.ticks)};
}

std::optional<RunTime> DeviceDecoder::run_time(const std::optional<Clock>& clock, std::int64_t ns) const {
  if (!clock || ns <= 0) return std::nullopt;
  if (ns < clock->first_ns - beyond_anchors_ns || ns - beyond_anchors_ns > clock->last_ns) return std::nullopt;
  return RunTime{clock->host_ns.host_time(static_cast<std::uint64_t>(ns)).time_since_epoch() + run_minus_host_};
}

std::optional<TimeRange> DeviceDecoder::time_range(std::int64_t begin, std::int64_t end) {
  const auto from = run_time(activities_, begin);
  const auto to = run_time(activities_, end);
  if (!from || !to || *to - *from > nanoseconds{longest_ns}) {
    builder_.quality().add(Counter::times_unusable);
    return std::nullopt;
  }
  if (full_since_ && *to < *full_since_) return std::nullopt;
  const TimeRange time{*from, *to};
  note({*from, std::max(*from, *to)});
  return time;
}

std::optional<TimeRange> DeviceDecoder::on_globaltimer(std::int64_t begin, std::int64_t end) const {
  const auto from = run_time(globaltimer_, begin);
  const auto to = run_time(globaltimer_, end);
  if (!from || !to || *to < *from) return std::nullopt;
  return TimeRange{*from, *to};
}

void DeviceDecoder::note(TimeRange time) {
  if (!seen_) seen_ = time;
  seen_->begin = std::min(seen_->begin, time.begin);
  seen_->end = std::max(seen_->end, time.end);
}

LaneId DeviceDecoder::thread_lane(std::int64_t os_thread) {
  const auto [found, added] = threads_.try_emplace(os_thread);
  if (added)
    found->second = builder_.add_lane(process_, LaneKind::thread,
                                      os_thread == pid_ ? "main" : format("thread {}", os_thread), os_thread);
  return found->second;
}

// Named at the end, when it is known whether there are several devices.
LaneId DeviceDecoder::stream_lane(std::uint32_t device, std::uint32_t stream) {
  const auto [found, added] = streams_.try_emplace({device, stream});
  if (added) {
    const std::int64_t number = stream == ActivityFields::no_stream ? -1 : std::int64_t{stream};
    const auto ordinal = static_cast<std::int32_t>(std::min<std::uint32_t>(device, INT32_MAX));
    found->second = builder_.add_lane(process_, LaneKind::stream, "", number, ordinal);
  }
  return found->second;
}

std::vector<Attribute> DeviceDecoder::items_of(const Record& record, std::size_t first_word, Names names) {
  std::vector<Attribute> attributes;
  const std::size_t words = record.body.size() / 8;
  for (std::size_t i = first_word; i < words; ++i) {
    const std::uint64_t word = record.word(i);
    const StringId key = name_in(names, word & 0xFFFFFF);
    const auto value = static_cast<std::uint32_t>(word >> 32);
    const auto kind = static_cast<ItemKind>(word >> 24 & 0xFF);
    const StringId text = name_in(names, value);
    const bool is_number = kind == ItemKind::number || kind == ItemKind::wide_number;
    AttributeValue stored{std::int64_t{static_cast<std::int32_t>(value)}};
    if (kind == ItemKind::wide_number) stored = static_cast<std::int64_t>(record.word(++i));
    if (kind == ItemKind::text) stored = text;
    if (kind == ItemKind::json) stored = JsonText{text};
    if (!key.is_set() || kind > ItemKind::json || (!is_number && !text.is_set()))
      builder_.quality().add(Counter::names_lost);
    else
      attributes.push_back({key, stored});
  }
  return attributes;
}

std::int64_t DeviceDecoder::number_among(std::span<const Attribute> attributes, StringId key) const {
  const auto found = std::ranges::find(attributes, key, &Attribute::key);
  return key.is_set() && found != attributes.end() && found->value.kind == AttributeKind::number ? found->value.number
                                                                                                 : -1;
}

void DeviceDecoder::activity(const Record& record, Names names) {
  const auto fields = fields_of<ActivityFields>(record);
  const auto time = time_range(fields.begin, fields.end);
  if (!time) return;
  const SpanKind kind = kind_of(record.head.code);
  if (kind == SpanKind::graph) builder_.quality().add(Counter::graphs_opaque);
  const LaneId lane = stream_lane(fields.device, fields.stream);
  const std::uint32_t ticket = builder_.add_span(lane, kind, name_in(names, record.head.name), *time);
  ++added_;
  std::vector<Attribute> attributes{{builder_.intern("correlation"), std::int64_t{fields.correlation}},
                                    {builder_.intern("context"), std::int64_t{fields.context}}};
  const auto items = items_of(record, sizeof fields / 8, names);
  attributes.insert(attributes.end(), items.begin(), items.end());
  builder_.add_attributes(ticket, attributes);
  if (is_launched(kind)) {
    launched_.push_back({fields.correlation, kind == SpanKind::comm, {ticket, *time, lane}});
  } else if (kind == SpanKind::sync) {
    waits_.push_back({.sync_id = number_among(items, builder_.find("event_sync_id")),
                      .id = number_among(items, builder_.find("wait_on_cuda_event_id")),
                      .context = fields.context,
                      .correlation = fields.correlation,
                      .ticket = ticket});
  }
}

void DeviceDecoder::call(const Record& record, Names names) {
  const auto fields = fields_of<CallFields>(record);
  const auto time = time_range(fields.begin, fields.end);
  if (!time) return;
  const StringId name = name_in(names, record.head.name);
  const std::uint32_t ticket = builder_.add_span(thread_lane(fields.thread), kind_of(record.head.code), name, *time);
  ++added_;
  std::vector<Attribute> attributes = items_of(record, sizeof fields / 8, names);
  if (fields.correlation != 0)
    attributes.insert(attributes.begin(), {builder_.intern("correlation"), std::int64_t{fields.correlation}});
  builder_.add_attributes(ticket, attributes);
  if (fields.correlation == 0) return;
  const Launch launch{fields.correlation, ticket, time->begin};
  launches_.push_back(launch);
  if (name.is_set() && launches_kernels(builder_.text(name))) kernel_launches_[fields.thread].push_back(launch);
}

void DeviceDecoder::moment(const Record& record, Names names) {
  const auto fields = fields_of<ActivityFields>(record);
  const auto items = items_of(record, sizeof fields / 8, names);
  if (const std::int64_t id = number_among(items, builder_.find("event_id")); id >= 0)
    events_.push_back({.sync_id = number_among(items, builder_.find("event_sync_id")),
                       .id = id,
                       .context = fields.context,
                       .correlation = fields.correlation,
                       .stream = fields.stream});
  if (fields.begin == 0) return;  // when it happened is not known, only that it was recorded
  const auto time = time_range(fields.begin, fields.begin);
  if (!time) return;
  const bool on_stream = record.head.code == static_cast<std::uint8_t>(MomentPlace::stream);
  const LaneId lane = on_stream ? stream_lane(fields.device, fields.stream) : thread_lane(pid_);
  const std::uint32_t mark = builder_.add_mark(lane, name_in(names, record.head.name), time->begin);
  builder_.add_mark_attributes(mark, items);
  if (fields.correlation != 0)
    builder_.add_mark_attribute(mark, builder_.intern("correlation"), std::int64_t{fields.correlation});
  ++added_;
}

void DeviceDecoder::device(const Record& record, Names names) {
  const auto fields = fields_of<DeviceFields>(record);
  Device device{.process = process_,
                .ordinal = static_cast<std::int32_t>(std::min<std::uint32_t>(fields.ordinal, INT32_MAX)),
                .name = name_in(names, record.head.name)};
  const StringId uuid = builder_.intern("uuid");
  for (const Attribute& item : items_of(record, sizeof fields / 8, names)) {
    const StringId text =
        item.value.kind == AttributeKind::number ? builder_.intern(format("{}", item.value.number)) : item.value.text;
    if (item.key == uuid)
      device.uuid = builder_.text(text).empty() ? StringId::none() : text;
    else
      device.metadata.emplace_back(item.key, text);
  }
  builder_.add_device(std::move(device));
}

void DeviceDecoder::finish() {
  name_streams();
  link_launches();
  pair_waits();
  for (auto& [thread, launches] : kernel_launches_) std::ranges::stable_sort(launches, {}, &Launch::begin);
}

void DeviceDecoder::name_streams() {
  if (streams_.empty()) return;
  const bool several = streams_.begin()->first.first != streams_.rbegin()->first.first;
  for (const auto& [key, lane] : streams_) {
    const std::string own =
        key.second == ActivityFields::no_stream ? std::string{"whole device"} : format("stream {}", key.second);
    builder_.rename_lane(lane, several ? format("GPU {} {}", key.first, own) : own, LaneKind::stream);
  }
}

void DeviceDecoder::link_launches() {
  std::ranges::stable_sort(launched_, {}, &Launched::correlation);
  std::ranges::stable_sort(launches_, {}, &Launch::correlation);
  std::uint32_t before = 0;
  std::uint64_t linked = 0;
  for (const Launch& launch : launches_) {
    const auto works = std::ranges::equal_range(launched_, launch.correlation, {}, &Launched::correlation);
    const bool again = launch.correlation == before;
    before = launch.correlation;
    if (again && !works.empty()) builder_.quality().add(Counter::correlation_reused);
    if (again) continue;
    for (const Launched& launched : works) {
      builder_.add_link(LinkKind::launch, launch.ticket, launched.work.ticket);
      if (launched.work.time.begin < launch.begin) builder_.quality().add(Counter::kernel_before_launch);
      ++linked;
    }
  }
  builder_.quality().add(Counter::kernels_without_launch, launched_.size() - linked);
}

// Ids of events are used again; where the profiler does not number waits, it is the last record of that event before.
const DeviceDecoder::Event* DeviceDecoder::waited_for(const Event& wait,
                                                      const std::map<std::int64_t, const Event*>& by_sync) const {
  if (wait.sync_id >= 0) {
    const auto found = by_sync.find(wait.sync_id);
    return found == by_sync.end() ? nullptr : found->second;
  }
  const auto after = std::ranges::lower_bound(events_, wait.correlation, {}, &Event::correlation);
  for (auto event = after; wait.id >= 0 && event != events_.begin();) {
    --event;
    if (event->id == wait.id && event->context == wait.context) return &*event;
  }
  return nullptr;
}

void DeviceDecoder::pair_waits() {
  std::ranges::stable_sort(events_, {}, &Event::correlation);
  std::map<std::int64_t, const Event*> by_sync;
  for (const Event& event : events_)
    if (event.sync_id >= 0) by_sync.insert_or_assign(event.sync_id, &event);
  for (const Event& wait : waits_) {
    const Event* const event = waited_for(wait, by_sync);
    if (event == nullptr) continue;
    builder_.add_attribute(wait.ticket, builder_.intern("wait_on_stream"), event->stream);
    builder_.add_attribute(wait.ticket, builder_.intern("wait_on_cuda_event_record_corr_id"),
                           std::int64_t{event->correlation});
  }
}

std::optional<DeviceDecoder::Work> DeviceDecoder::comm_launched_last(std::int64_t os_thread, TimeRange time) const {
  const auto thread = kernel_launches_.find(os_thread);
  if (thread == kernel_launches_.end()) return std::nullopt;
  const auto after = std::ranges::upper_bound(thread->second, time.end, {}, &Launch::begin);
  if (after == thread->second.begin() || (after - 1)->begin < time.begin) return std::nullopt;
  return comm_of(*(after - 1));
}

std::optional<DeviceDecoder::Work> DeviceDecoder::comm_launched_in(std::int64_t os_thread, TimeRange time,
                                                                   RunTime reported) const {
  constexpr nanoseconds clock_error{100'000};
  const auto thread = kernel_launches_.find(os_thread);
  if (thread == kernel_launches_.end()) return std::nullopt;
  const auto first = std::ranges::lower_bound(thread->second, time.begin, {}, &Launch::begin);
  if (first == thread->second.end() || first->begin >= time.end) return std::nullopt;
  const auto work = comm_of(*first);
  return work && work->time.begin + clock_error >= reported ? work : std::nullopt;
}

std::optional<DeviceDecoder::Work> DeviceDecoder::comm_of(const Launch& launch) const {
  const auto works = std::ranges::equal_range(launched_, launch.correlation, {}, &Launched::correlation);
  for (const Launched& launched : works)
    if (launched.communicates) return launched.work;
  return std::nullopt;
}

}  // namespace rankscope::recording
