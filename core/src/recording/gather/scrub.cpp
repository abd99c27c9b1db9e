#include "recording/gather/scrub.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "rankscope/core/recording/records.h"
#include "rankscope/core/secrets.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {
namespace {

/// Where the words of a record lie that are its attributes; nothing for records without such words.
std::optional<std::size_t> first_item(RecordType type) {
  if (type == RecordType::activity || type == RecordType::moment) return sizeof(ActivityFields) / 8;
  if (type == RecordType::call) return sizeof(CallFields) / 8;
  if (type == RecordType::device) return sizeof(DeviceFields) / 8;
  return std::nullopt;
}

bool is_key_and_text(RecordType type) {
  return type == RecordType::attribute_text || type == RecordType::mark_attribute_text ||
         type == RecordType::range_attribute_text || type == RecordType::comm_attribute_text ||
         type == RecordType::metadata;
}

bool is_key_and_number(RecordType type) {
  return type == RecordType::attribute_int || type == RecordType::mark_attribute_int ||
         type == RecordType::range_attribute_int || type == RecordType::comm_attribute_int;
}

class ChunkScrubber {
 public:
  explicit ChunkScrubber(std::span<std::byte> payload) : payload_(payload) {
    for_each_record([this](const Record& record) { note_string(record); });
  }

  std::uint64_t run() {
    for_each_record([this](const Record& record) { scrub_record(record); });
    for (const auto& [id, text] : texts_) hidden_ += hide_secrets(text);
    return hidden_;
  }

 private:
  template <class Visit>
  void for_each_record(const Visit& visit) {
    RecordWalk walk{payload_};
    for (Record record{}; walk.next(record);) visit(record);
  }

  void note_string(const Record& record) {
    if (record.head.type != static_cast<std::uint8_t>(RecordType::string) || record.body.size() < 8) return;
    const std::size_t length = std::min<std::size_t>(record.word(0), record.body.size() - 8);
    texts_.insert_or_assign(record.head.name,
                            std::span{reinterpret_cast<char*>(payload_.data()) + offset_of(record, 1), length});
  }

  /// Of a word of a record in the payload.
  [[nodiscard]] std::size_t offset_of(const Record& record, std::size_t word) const {
    return static_cast<std::size_t>(record.body.data() - payload_.data()) + word * 8;
  }

  void scrub_record(const Record& record) {
    const auto type = static_cast<RecordType>(record.head.type);
    if (is_key_and_text(type)) scrub_text(record.head.name, record.word(0));
    if (is_key_and_number(type) && record.body.size() >= 8)
      scrub_number(record.head.name, static_cast<std::int64_t>(record.word(0)), {offset_of(record, 0), 8});
    if (const auto first = first_item(type)) scrub_items(record, *first);
  }

  void scrub_items(const Record& record, std::size_t first) {
    for (std::size_t i = first; i < record.body.size() / 8; ++i) {
      const std::uint64_t word = record.word(i);
      const std::uint64_t key = word & 0xFFFFFF;
      const auto kind = static_cast<ItemKind>(word >> 24 & 0xFF);
      const auto value = static_cast<std::uint32_t>(word >> 32);
      if (kind == ItemKind::text || kind == ItemKind::json) scrub_text(key, value);
      if (kind == ItemKind::number) scrub_number(key, static_cast<std::int32_t>(value), {offset_of(record, i) + 4, 4});
      if (kind == ItemKind::wide_number && (++i + 1) * 8 <= record.body.size())
        scrub_number(key, static_cast<std::int64_t>(record.word(i)), {offset_of(record, i), 8});
    }
  }

  [[nodiscard]] std::string_view text_of(std::uint64_t id) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? std::string_view{} : std::string_view{found->second.data(), found->second.size()};
  }

  void scrub_text(std::uint64_t key, std::uint64_t value) {
    const auto found = texts_.find(value);
    if (found == texts_.end() || !is_secret_value(text_of(key), text_of(value))) return;
    std::ranges::fill(found->second, '*');
    ++hidden_;
  }

  struct Place {
    std::size_t offset;
    std::size_t bytes;
  };
  /// A secret number becomes 0.
  void scrub_number(std::uint64_t key, std::int64_t value, Place place) {
    if (!names_secret(text_of(key)) || !is_secret_value(text_of(key), std::to_string(value))) return;
    std::memset(payload_.data() + place.offset, 0, place.bytes);
    ++hidden_;
  }

  std::span<std::byte> payload_;
  std::unordered_map<std::uint64_t, std::span<char>> texts_;  // by their ids in the chunk
  std::uint64_t hidden_ = 0;
};

}  // namespace

std::uint64_t scrub_payload(std::span<std::byte> payload) { return ChunkScrubber{payload}.run(); }

std::uint64_t scrub_header(SegmentStatic& fixed) { return hide_secrets(fixed.program); }

}  // namespace rankscope::recording
