#include "recording/thin/chunk_facts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// A record, and the names of its chunk.
struct ChunkFacts::Chunk {
  std::vector<std::string_view> names;
  std::int64_t os_thread = 0;
  Record record{};

  [[nodiscard]] std::string_view name(std::uint64_t id) const { return id < names.size() ? names[id] : ""; }
  void add_name() {
    if (record.head.name != names.size() || record.body.size() < 8) return;
    const auto bytes = record.body.subspan(8);
    names.emplace_back(reinterpret_cast<const char*>(bytes.data()),
                       std::min<std::size_t>(record.word(0), bytes.size()));
  }
};

namespace {

bool is_event(RecordType type) {
  switch (type) {
    case RecordType::push:
    case RecordType::range_start:
    case RecordType::mark:
    case RecordType::counter:
    case RecordType::comm_enqueued:
    case RecordType::activity:
    case RecordType::call:
    case RecordType::moment:
      return true;
    default:
      return false;
  }
}

bool copies(RecordType type) {
  return type == RecordType::metadata || type == RecordType::device || type == RecordType::communicator ||
         type == RecordType::thread_name || type == RecordType::clock_pair || type == RecordType::anchor ||
         type == RecordType::counter;
}

/// The items behind the fields of a record; `names` are those of its chunk.
std::vector<Item> items_of(const Record& record, std::size_t first, std::span<const std::string_view> names) {
  const auto name = [&names](std::uint64_t id) { return id < names.size() ? names[id] : std::string_view{""}; };
  std::vector<Item> items;
  for (std::size_t i = first; i < record.body.size() / 8; ++i) {
    const std::uint64_t word = record.word(i);
    const auto kind = static_cast<ItemKind>(word >> 24 & 0xFF);
    const auto value = static_cast<std::uint32_t>(word >> 32);
    Item item{.key = name(word & 0xFFFFFF), .number = static_cast<std::int32_t>(value)};
    if (kind == ItemKind::wide_number) item.number = static_cast<std::int64_t>(record.word(++i));
    if (kind == ItemKind::text || kind == ItemKind::json) item.text = name(value);
    item.is_json = kind == ItemKind::json;
    items.push_back(item);
  }
  return items;
}

constexpr std::size_t most_begun = 1U << 16;  // the ends of more never come

}  // namespace

std::uint64_t ChunkFacts::copy(std::span<const std::byte> payload, std::int64_t os_thread) {
  Chunk chunk{.names = {}, .os_thread = os_thread};
  std::uint64_t events = 0;
  RecordWalk walk{payload};
  while (walk.next(chunk.record)) {
    const auto type = static_cast<RecordType>(chunk.record.head.type);
    if (type == RecordType::string) chunk.add_name();
    if (is_event(type)) ++events;
    if (type == RecordType::comm_enqueued) enqueued(chunk);
    if (type == RecordType::range_start) begun_.try_emplace({Kind::range, chunk.record.word(1)});
    if (type == RecordType::comm_started) started(chunk.record.word(1), chunk.record.word(0));
    if (type == RecordType::comm_finished) ended({Kind::operation, chunk.record.word(1)}, {chunk.record.word(0)});
    if (type == RecordType::comm_device_times)
      ended({Kind::device, chunk.record.word(0)},
            {0, static_cast<std::int64_t>(chunk.record.word(1)), static_cast<std::int64_t>(chunk.record.word(2))});
    if (type == RecordType::range_end) ended({Kind::range, chunk.record.word(1)}, {chunk.record.word(0)});
    if (copies(type)) is_stored([&] { copy_record(chunk, chunk.record.head.type); });
  }
  return events;
}

void ChunkFacts::enqueued(const Chunk& chunk) {
  CommEnqueued record{};
  std::memcpy(&record, chunk.record.body.data(), std::min(sizeof record, chunk.record.body.size()));
  Begun begun{.fields = {.uid = record.uid,
                         .sequence = record.sequence,
                         .bytes = record.bytes,
                         .group = {},
                         .op = {},
                         .dtype = {},
                         .members = {},
                         .peer = record.peer},
              .group = std::string{chunk.name(record.group)},
              .op = std::string{chunk.name(chunk.record.head.name)},
              .dtype = std::string{chunk.name(record.dtype)},
              .members = std::string{chunk.name(record.members)},
              .enqueued = record.ticks};
  if (begun.members.empty()) return reported(record.uid, std::move(begun));
  const Key key{Kind::operation, record.uid};
  if (ends_.erase(key) == 0) begun_.insert_or_assign(key, std::move(begun));
}

void ChunkFacts::reported(std::uint64_t uid, Begun begun) {
  const auto ends = ends_.erase({Kind::operation, uid}) + ends_.erase({Kind::device, uid});
  of_library_.insert(uid);
  Last& last = last_of_library_[begun.group];
  if (begun.enqueued >= last.begun.enqueued) last = {uid, std::move(begun), ends > 0};
}

void ChunkFacts::started(std::uint64_t uid, std::uint64_t ticks) {
  const auto begun = begun_.find({Kind::operation, uid});
  if (begun == begun_.end() || begun->second.started != 0) return;
  begun->second.started = ticks;
  if (begun->second.is_written) is_stored([&] { pen_->happened(RecordType::comm_started, uid, ticks); });
}

/// Threads are given up one after the other, so that an end may come before its begin.
void ChunkFacts::ended(Key key, const End& end) {
  if (is_end_of_library(key)) return;
  const auto begun = begun_.find(key);
  if (begun == begun_.end() || begun->second.is_written) ends_.insert_or_assign(key, end);
  if (begun != begun_.end()) begun_.erase(begun);
}

bool ChunkFacts::is_end_of_library(Key key) {
  if (key.first == Kind::range) return false;
  bool is_known = of_library_.contains(key.second);
  for (auto& entry : last_of_library_) {
    Last& last = entry.second;
    if (last.uid != key.second) continue;
    last.has_ended = true;
    is_known = is_known || !last.begun.is_written;
  }
  return is_known;
}

bool ChunkFacts::is_stored(const std::function<void()>& write) {
  constexpr std::uint64_t writes_per_refill = 8;  // each has texts of a few KiB at most
  if (writes_++ % writes_per_refill == 0) file_->refill();
  const auto dropped = [this] { return file_->header().events_dropped.load(std::memory_order_relaxed); };
  const std::uint64_t before = dropped();
  write();
  return dropped() == before;
}

void ChunkFacts::write(const Begun& begun, std::uint64_t uid) {
  ThreadWriter::Collective fields = begun.fields;
  fields.group = begun.group;
  fields.op = begun.op;
  fields.dtype = begun.dtype;
  fields.members = begun.members;
  pen_->comm_enqueued(fields, begun.enqueued);
  if (begun.started != 0) pen_->happened(RecordType::comm_started, uid, begun.started);
}

void ChunkFacts::write_end(Key key, const End& end) {
  switch (key.first) {
    case Kind::operation:
      return pen_->happened(RecordType::comm_finished, key.second, end.ticks);
    case Kind::device:
      return pen_->comm_device_times(key.second, end.begin_ns, end.end_ns);
    case Kind::range:
      return pen_->happened(RecordType::range_end, key.second, end.ticks);
  }
}

// What finds no room stays for the next call.
void ChunkFacts::finish(const IsLast& is_last) {
  for (auto& entry : counters_) {
    Sampled& sampled = entry.second;
    if (!sampled.is_pending) continue;
    if (!is_stored([&] { pen_->counter(entry.first, sampled.value, sampled.ticks); })) return;
    sampled.is_pending = false;
  }
  while (!ends_.empty()) {
    const auto end = ends_.begin();
    if (!is_stored([&] { write_end(end->first, end->second); })) return;
    ends_.erase(end);
  }
  for (auto& entry : begun_) {
    Begun& begun = entry.second;
    if (entry.first.first != Kind::operation || begun.is_written) continue;
    if (!is_stored([&] { write(begun, entry.first.second); })) return;
    begun.is_written = true;
  }
  for (auto& entry : last_of_library_) {
    Last& last = entry.second;
    if (last.has_ended || last.begun.is_written || !is_last(entry.first, last.begun.enqueued)) continue;
    if (!is_stored([&] { write(last.begun, last.uid); })) return;
    last.begun.is_written = true;
  }
  of_library_.clear();
  if (begun_.size() > most_begun) begun_.clear();
}

void ChunkFacts::copy_record(const Chunk& chunk, std::uint8_t type) {
  const Record& record = chunk.record;
  const std::string_view name = chunk.name(record.head.name);
  const std::uint64_t ticks = record.word(0);
  const auto apart = [&](std::optional<std::uint64_t> before) { return !before || ticks >= *before + ticks_apart_; };
  switch (static_cast<RecordType>(type)) {
    case RecordType::metadata:
      return pen_->metadata(name, chunk.name(record.word(0)));
    case RecordType::communicator:
      return pen_->communicator(name, static_cast<std::uint32_t>(record.word(0)),
                                static_cast<std::int32_t>(record.word(0) >> 32));
    case RecordType::thread_name:
      return pen_->thread_name(name, record.head.code, chunk.os_thread);
    case RecordType::device: {
      std::vector<Item> items = items_of(record, sizeof(DeviceFields) / 8, chunk.names);
      const auto uuid = std::ranges::find(items, std::string_view{"uuid"}, &Item::key);
      const std::string_view text = uuid == items.end() ? std::string_view{""} : uuid->text;
      if (uuid != items.end()) items.erase(uuid);
      return pen_->device(name, static_cast<std::uint32_t>(record.word(0)), text, items);
    }
    case RecordType::clock_pair:
      if (!apart(clock_pair_)) return;
      clock_pair_ = ticks;
      return pen_->clock_pair(
          {ticks, static_cast<std::int64_t>(record.word(1)), static_cast<std::int64_t>(record.word(2))});
    case RecordType::anchor: {
      const auto before = anchors_.find(record.head.code);
      if (!apart(before == anchors_.end() ? std::nullopt : std::optional{before->second})) return;
      anchors_[record.head.code] = ticks;
      return pen_->anchor(static_cast<ForeignClock>(record.head.code), ticks,
                          static_cast<std::int64_t>(record.word(1)));
    }
    case RecordType::counter:
      return sample(std::string{name}, ticks, std::bit_cast<double>(record.word(1)));
    default:
      return;
  }
}

void ChunkFacts::sample(const std::string& name, std::uint64_t ticks, double value) {
  const auto [found, added] = counters_.try_emplace(name, Sampled{ticks, ticks, value, true});
  Sampled& sampled = found->second;
  if (!added && ticks >= sampled.begin + ticks_apart_) {
    if (sampled.is_pending) pen_->counter(name, sampled.value, sampled.ticks);
    sampled = {ticks, ticks, value, true};
  } else if (value > sampled.value) {
    sampled.ticks = ticks;
    sampled.value = value;
    sampled.is_pending = true;
  }
}

}  // namespace rankscope::recording
