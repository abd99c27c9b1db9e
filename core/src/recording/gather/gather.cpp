// Packs the segment of a process that has ended: only what was written, every chunk sealed.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/secrets.h"
#include "recording/format/crc32c.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {
namespace {

// Hides credentials in the texts of one chunk.

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

/// Overwrites secrets in the strings of a payload, and whole values that stand under a name such as "api_token".
/// Nothing changes its length, so the records stay where they are. Returns how many were hidden.
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

namespace fs = std::filesystem;

void write_chunk(std::ofstream& out, const Chunk& chunk) {
  ChunkHeader header{};
  header.magic = chunk_magic;
  header.capacity = static_cast<std::uint32_t>(chunk.payload.size());
  header.thread = chunk.thread;
  header.sequence = chunk.sequence;
  header.os_thread = chunk.os_thread;
  const auto committed = static_cast<std::uint32_t>(chunk.payload.size());
  header.committed.store(committed, std::memory_order_relaxed);
  header.state.store(static_cast<std::uint32_t>(ChunkState::sealed), std::memory_order_relaxed);
  header.payload_crc = crc32c(chunk.payload.data(), chunk.payload.size());
  header.header_crc = crc32c(&committed, sizeof committed, crc32c(&header, offsetof(ChunkHeader, committed)));
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(reinterpret_cast<const char*>(chunk.payload.data()), static_cast<std::streamsize>(chunk.payload.size()));
}

/// The strings of one chunk by their ids.
class Names {
 public:
  void add(const Record& record) {
    if (record.head.type != static_cast<std::uint8_t>(RecordType::string) || record.head.name > largest_id) return;
    const auto bytes = record.body.subspan(std::min<std::size_t>(8, record.body.size()));
    const auto length = std::min<std::size_t>(record.word(0), bytes.size());
    names_.resize(std::max<std::size_t>(names_.size(), std::size_t{record.head.name} + 1));
    names_[record.head.name] = {reinterpret_cast<const char*>(bytes.data()), length};
  }
  [[nodiscard]] bool has(std::uint64_t id) const { return id < names_.size() && names_[id].data() != nullptr; }
  [[nodiscard]] std::string_view of(std::uint64_t id) const { return has(id) ? names_[id] : std::string_view{}; }

 private:
  static constexpr std::uint32_t largest_id = 0xFFFF;
  std::vector<std::string_view> names_;
};

/// Of kernels for communication, those in which NCCL (from 2.19) carries out collectives; ncclDevKernel_SendRecv sends.
bool is_nccl_collective(std::string_view kernel) {
  return kernel.find("ncclDevKernel_") != std::string_view::npos && kernel.find("SendRecv") == std::string_view::npos;
}

/// An operation without members is one that a communication library reported, not the program.
bool is_of_library(const Record& record, const Names& names) {
  CommEnqueued fields{};
  std::memcpy(&fields, record.body.data(), std::min(sizeof fields, record.body.size()));
  return names.has(fields.members) && names.of(fields.members).empty();
}

void count_events(const Chunk& chunk, GatherSummary& summary) {
  Names names;
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);) {
    names.add(record);
    const auto type = static_cast<RecordType>(record.head.type);
    if (type != RecordType::string) ++summary.events;
    if (type == RecordType::comm_enqueued && is_of_library(record, names)) ++summary.library_operations;
    if (type != RecordType::activity) continue;
    ++summary.activities;
    if (record.head.code == static_cast<std::uint8_t>(SpanKind::comm) && is_nccl_collective(names.of(record.head.name)))
      ++summary.nccl_kernels;
  }
}

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Of several values of a key what value_after says, as in the reader.
void collect_metadata(const Chunk& chunk, Metadata& metadata) {
  Names names;
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);) {
    names.add(record);
    if (record.head.type != static_cast<std::uint8_t>(RecordType::metadata)) continue;
    if (!names.has(record.head.name) || !names.has(record.word(0))) continue;
    const std::string key{names.of(record.head.name)};
    if (key == injected_faults_key) continue;
    const auto known = std::ranges::find(metadata, key, &Metadata::value_type::first);
    if (known == metadata.end())
      metadata.emplace_back(key, names.of(record.word(0)));
    else
      known->second = value_after(key, known->second, names.of(record.word(0)));
  }
}

void write_header(std::ofstream& out, const SegmentFile& segment) {
  std::array<char, segment_header_bytes> page{};
  std::memcpy(page.data(), segment.file.bytes().data(), sizeof(SegmentHeader));
  // What was damaged or cut stays missed: a reader finds fewer chunks than there should be.
  const std::uint64_t lost = segment.quality.of(Counter::chunks_corrupt) + segment.quality.of(Counter::segment_cut);
  const auto chunks = static_cast<std::uint32_t>(segment.chunks.size() + lost);
  std::memcpy(page.data() + offsetof(SegmentHeader, packed_chunks), &chunks, sizeof chunks);
  out.write(page.data(), page.size());
}

}  // namespace

Result<GatherSummary> gather_segment(const fs::path& source, const fs::path& target, Secrets secrets) {
  RS_TRY(const SegmentFile segment, read_segment(source));
  const fs::path temporary = target.string() + ".part";
  std::ofstream out{temporary, std::ios::binary | std::ios::trunc};
  GatherSummary summary{.segments = 1, .events_dropped = segment.counters.events_dropped};
  write_header(out, segment);
  summary.bytes = segment_header_bytes;
  summary.world_size = std::max<std::int64_t>({0, segment.fixed.world_size, segment.counters.late_world_size});
  std::vector<std::byte> scrubbed;
  for (Chunk chunk : segment.chunks) {
    if (secrets == Secrets::hide) {
      scrubbed.assign(chunk.payload.begin(), chunk.payload.end());
      summary.secrets_hidden += scrub_payload(scrubbed);
      chunk.payload = scrubbed;
    }
    write_chunk(out, chunk);
    count_events(chunk, summary);
    collect_metadata(chunk, summary.metadata);
    summary.bytes += chunk_header_bytes + chunk.payload.size();
  }
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, target, error);
  if (!out || error) {
    const std::string why = error ? error.message() : std::strerror(errno);
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return fail(ErrorKind::cannot_write,
                format("cannot write {}: {}; the segment is still in {}", target.string(), why, source.string()));
  }
  return summary;
}

}  // namespace rankscope::recording
