// What is told afterwards: activities of accelerators, and what communication libraries say of their operations.
#include <algorithm>
#include <array>

#include "rankscope/core/recording/segment_writer.h"
#include "recording/format/record_bytes.h"

namespace rankscope::recording {

/// A record of fixed fields and items.
struct ThreadWriter::Described {
  RecordType type;
  std::uint8_t code;
  std::string_view name;
  const void* fields;
  std::uint32_t field_bytes;
  std::span<const Item> items;
};

namespace {

bool is_small(std::int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

bool is_wide(const Item& item) { return item.text.data() == nullptr && !is_small(item.number); }

std::uint8_t* put_item(std::uint8_t* at, const Item& item, std::uint32_t key, std::uint32_t text) {
  const bool has_text = item.text.data() != nullptr;
  const ItemKind of_text = item.is_json ? ItemKind::json : ItemKind::text;
  const ItemKind of_number = is_wide(item) ? ItemKind::wide_number : ItemKind::number;
  const auto kind = static_cast<std::uint64_t>(has_text ? of_text : of_number);
  const std::uint64_t value = has_text ? text : static_cast<std::uint32_t>(item.number);
  at = put(at, std::uint64_t{key} | kind << 24 | value << 32);
  return is_wide(item) ? put(at, static_cast<std::uint64_t>(item.number)) : at;
}

std::uint32_t bytes_of_names(std::string_view name, std::span<const Item> items) {
  std::uint32_t bytes = bytes_of_name(name);
  for (const Item& item : items) bytes += bytes_of_name(item.key) + bytes_of_name(item.text);
  return bytes;
}

}  // namespace

// All names and the record must be in one chunk: if a name opened a new one, the names before it are defined again.
void ThreadWriter::described(const Described& record) {
  const auto items = record.items.first(std::min(record.items.size(), most_items));
  if (items.size() < record.items.size()) drop(record.items.size() - items.size());
  const auto wide = static_cast<std::uint32_t>(std::ranges::count_if(items, is_wide));
  const std::uint32_t bytes = 8 + record.field_bytes + 8 * (static_cast<std::uint32_t>(items.size()) + wide);
  const std::uint32_t reserved = pop_bytes * (depth_ + 1);
  std::array<std::uint32_t, most_items> keys{};
  std::array<std::uint32_t, most_items> texts{};
  for (const std::uint32_t names : {0U, bytes_of_names(record.name, items)}) {
    if (reserve_with_names(bytes, names, reserved) == nullptr) return drop();
    const std::uint32_t before = sequence_;
    const std::uint32_t name = intern(record.name, bytes + reserved);
    bool known = name != no_name;
    for (std::size_t i = 0; known && i < items.size(); ++i) {
      keys[i] = intern(items[i].key, bytes + reserved);
      if (items[i].text.data() != nullptr) texts[i] = intern(items[i].text, bytes + reserved);
      known = keys[i] != no_name && texts[i] != no_name;
    }
    if (!known) return drop();
    if (before != sequence_) continue;
    std::uint8_t* at = put_head(reserve(bytes, reserved), record.type, record.code, bytes / 8, name);
    std::memcpy(at, record.fields, record.field_bytes);
    at += record.field_bytes;
    for (std::size_t i = 0; i < items.size(); ++i) at = put_item(at, items[i], keys[i], texts[i]);
    return commit(bytes);
  }
  drop();
}

void ThreadWriter::activity(SpanKind kind, std::string_view name, const ActivityFields& fields,
                            std::span<const Item> items) {
  described({RecordType::activity, static_cast<std::uint8_t>(kind), name, &fields, sizeof fields, items});
}

void ThreadWriter::call(SpanKind kind, std::string_view name, const CallFields& fields, std::span<const Item> items) {
  described({RecordType::call, static_cast<std::uint8_t>(kind), name, &fields, sizeof fields, items});
}

void ThreadWriter::moment(MomentPlace place, std::string_view name, const ActivityFields& fields,
                          std::span<const Item> items) {
  described({RecordType::moment, static_cast<std::uint8_t>(place), name, &fields, sizeof fields, items});
}

// Once per process: its uuid stands among the items, so that all its names land in one chunk.
void ThreadWriter::device(std::string_view name, std::uint32_t ordinal, std::string_view uuid,
                          std::span<const Item> items) {
  std::array<Item, most_items> all{Item{.key = "uuid", .text = uuid}};
  const std::size_t kept = std::min(items.size(), most_items - 1);
  std::ranges::copy(items.first(kept), all.begin() + 1);
  if (kept < items.size()) drop(items.size() - kept);
  const DeviceFields fields{ordinal, 0};
  described({RecordType::device, 0, name, &fields, sizeof fields, {all.data(), kept + 1}});
}

void ThreadWriter::anchor(ForeignClock clock, std::uint64_t ticks, std::int64_t ns) {
  std::uint8_t* at = reserve(24, pop_bytes * (depth_ + 1));
  if (at == nullptr) return drop();
  at = put_head(at, RecordType::anchor, static_cast<std::uint8_t>(clock), 3, 0);
  put(put(at, ticks), static_cast<std::uint64_t>(ns));
  commit(24);
}

void ThreadWriter::comm_returned(std::uint64_t uid) { happened(RecordType::comm_returned, uid); }

void ThreadWriter::comm_device_times(std::uint64_t uid, std::int64_t begin, std::int64_t end) {
  std::uint8_t* at = reserve(32, pop_bytes * (depth_ + 1));
  if (at == nullptr) return drop();
  at = put(put_head(at, RecordType::comm_device_times, 0, 4, 0), uid);
  put(put(at, static_cast<std::uint64_t>(begin)), static_cast<std::uint64_t>(end));
  commit(32);
}

void ThreadWriter::step_sums(SpanKind kind, std::string_view name, const StepSumsFields& fields) {
  described({RecordType::step_sums, static_cast<std::uint8_t>(kind), name, &fields, sizeof fields, {}});
}

void ThreadWriter::thinned(const ThinnedFields& fields) {
  constexpr std::uint32_t bytes = sizeof(RecordHead) + sizeof fields;
  std::uint8_t* const at = reserve(bytes, pop_bytes * (depth_ + 1));
  if (at == nullptr) return drop();
  std::memcpy(put_head(at, RecordType::thinned, 0, bytes / 8, 0), &fields, sizeof fields);
  commit(bytes);
}

void ThreadWriter::thread_name(std::string_view name, std::uint8_t code, std::int64_t os_thread) {
  plain(RecordType::thread_name, code, name, clock_.now(), static_cast<std::uint64_t>(os_thread), 3);
}

void ThreadWriter::communicator(std::string_view name, std::uint32_t ranks, std::int32_t rank) {
  plain(RecordType::communicator, 0, name, std::uint64_t{ranks} | std::uint64_t{static_cast<std::uint32_t>(rank)} << 32,
        0, 2);
}

}  // namespace rankscope::recording
