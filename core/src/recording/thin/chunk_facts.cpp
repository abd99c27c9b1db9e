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

}  // namespace

std::uint64_t ChunkFacts::copy(std::span<const std::byte> payload, std::int64_t os_thread) {
  Chunk chunk{.names = {}, .os_thread = os_thread};
  std::uint64_t events = 0;
  RecordWalk walk{payload};
  while (walk.next(chunk.record)) {
    const auto type = static_cast<RecordType>(chunk.record.head.type);
    if (type == RecordType::string) chunk.add_name();
    if (is_event(type)) ++events;
    if (copies(type)) copy_record(chunk, chunk.record.head.type);
  }
  return events;
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
  const auto [found, added] = counters_.try_emplace(name, Sampled{ticks, ticks, value});
  Sampled& sampled = found->second;
  if (!added && ticks >= sampled.begin + ticks_apart_) {
    pen_->counter(name, sampled.value, sampled.ticks);
    sampled = {ticks, ticks, value};
  } else if (value > sampled.value) {
    sampled.ticks = ticks;
    sampled.value = value;
  }
}

}  // namespace rankscope::recording
