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
    if (type == RecordType::comm_finished) ended({Kind::operation, chunk.record.word(1)}, chunk.record.word(0));
    if (type == RecordType::range_end) ended({Kind::range, chunk.record.word(1)}, chunk.record.word(0));
    if (copies(type)) copy_record(chunk, chunk.record.head.type);
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
  const Key key{Kind::operation, record.uid};
  if (ends_.erase(key) == 0) begun_.insert_or_assign(key, std::move(begun));
}

void ChunkFacts::started(std::uint64_t uid, std::uint64_t ticks) {
  const auto begun = begun_.find({Kind::operation, uid});
  if (begun == begun_.end() || begun->second.started != 0) return;
  begun->second.started = ticks;
  if (begun->second.is_written) pen_->happened(RecordType::comm_started, uid, ticks);
}

/// Threads are given up one after the other, so that an end may come before its begin.
void ChunkFacts::ended(Key key, std::uint64_t ticks) {
  const auto begun = begun_.find(key);
  if (begun == begun_.end() || begun->second.is_written) ends_.insert_or_assign(key, ticks);
  if (begun != begun_.end()) begun_.erase(begun);
}

void ChunkFacts::write(Begun& begun, std::uint64_t uid) {
  ThreadWriter::Collective fields = begun.fields;
  fields.group = begun.group;
  fields.op = begun.op;
  fields.dtype = begun.dtype;
  fields.members = begun.members;
  pen_->comm_enqueued(fields, begun.enqueued);
  if (begun.started != 0) pen_->happened(RecordType::comm_started, uid, begun.started);
  begun.is_written = true;
}

void ChunkFacts::finish() {
  for (auto& [name, sampled] : counters_) {
    if (!sampled.is_pending) continue;
    pen_->counter(name, sampled.value, sampled.ticks);
    sampled.is_pending = false;
  }
  for (const auto& [key, ticks] : ends_)
    pen_->happened(key.first == Kind::range ? RecordType::range_end : RecordType::comm_finished, key.second, ticks);
  ends_.clear();
  for (auto& [key, begun] : begun_)
    if (key.first == Kind::operation && !begun.is_written) write(begun, key.second);
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
