#include "recording/gather/scrub_payload.h"

#include <algorithm>
#include <unordered_map>

#include "rankscope/core/secrets.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {
namespace {

using Texts = std::unordered_map<std::uint64_t, std::span<char>>;

/// The strings of a chunk by their ids, as they lie in the payload.
Texts texts_of(std::span<std::byte> payload) {
  Texts texts;
  RecordWalk walk{payload};
  for (Record record{}; walk.next(record);) {
    if (record.head.type != static_cast<std::uint8_t>(RecordType::string) || record.body.size() < 8) continue;
    const auto begin = static_cast<std::size_t>(record.body.data() + 8 - payload.data());
    const auto length = std::min<std::size_t>(record.word(0), record.body.size() - 8);
    texts.insert_or_assign(record.head.name, std::span{reinterpret_cast<char*>(payload.data()) + begin, length});
  }
  return texts;
}

bool is_key_and_text(const Record& record) {
  const auto type = static_cast<RecordType>(record.head.type);
  return type == RecordType::attribute_text || type == RecordType::mark_attribute_text ||
         type == RecordType::range_attribute_text || type == RecordType::comm_attribute_text ||
         type == RecordType::metadata;
}

}  // namespace

std::uint64_t scrub_payload(std::span<std::byte> payload) {
  const Texts texts = texts_of(payload);
  std::uint64_t hidden = 0;
  RecordWalk walk{payload};
  for (Record record{}; walk.next(record);) {
    if (!is_key_and_text(record)) continue;
    const auto key = texts.find(record.head.name);
    const auto value = texts.find(record.word(0));
    if (key == texts.end() || value == texts.end()) continue;
    if (!names_secret({key->second.data(), key->second.size()})) continue;
    if (std::ranges::all_of(value->second, [](char c) { return c == '*'; })) continue;
    std::ranges::fill(value->second, '*');
    ++hidden;
  }
  for (const auto& [id, text] : texts) hidden += hide_secrets(text);
  return hidden;
}

}  // namespace rankscope::recording
