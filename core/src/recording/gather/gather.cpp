// Packs the segment of a process that has ended: only what was written, every chunk sealed.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "recording/format/crc32c.h"
#include "recording/format/segment_file.h"
#include "recording/format/segment_work.h"
#include "recording/gather/scrub.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

void write_chunk(std::ostream& out, const Chunk& chunk) {
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

/// In the place of one whose checksum did not match: an empty one whose checksum does not match either, so that readers
/// go on to name the cause.
void write_damaged_chunk(std::ostream& out) {
  ChunkHeader header{};
  header.magic = chunk_magic;
  header.thread = free_thread;
  header.state.store(static_cast<std::uint32_t>(ChunkState::sealed), std::memory_order_relaxed);
  constexpr std::uint32_t committed = 0;
  header.header_crc = ~crc32c(&committed, sizeof committed, crc32c(&header, offsetof(ChunkHeader, committed)));
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
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

using Page = std::array<std::byte, segment_header_bytes>;

void set_field(Page& page, std::size_t offset, std::uint32_t value) {
  std::memcpy(page.data() + offset, &value, sizeof value);
}

/// The static part with its checksum, and then the whole page with its own.
void seal(Page& page, SegmentStatic fixed, bool is_damaged) {
  fixed.minor = std::max(fixed.minor, format_minor);
  fixed.sealed = 1;
  std::memcpy(page.data(), &fixed, sizeof fixed);
  set_field(page, offsetof(SegmentHeader, static_crc), crc32c(&fixed, sizeof fixed));
  const std::uint32_t checksum = page_checksum(page);
  set_field(page, offsetof(SegmentHeader, page_crc), is_damaged ? ~checksum : checksum);  // it stays so
}

/// Returns how many secrets were hidden.
std::uint64_t write_header(std::ostream& out, const SegmentFile& segment, Texts texts) {
  Page page{};
  // The ring of runs to write to again means nothing any more.
  std::memcpy(page.data(), segment.file.bytes().data(), offsetof(SegmentHeader, handed_back));
  // What was cut stays missed: a reader finds fewer chunks than there should be.
  const std::uint64_t lost = segment.quality.of(Counter::chunks_corrupt) + segment.quality.of(Counter::segment_cut);
  set_field(page, offsetof(SegmentHeader, packed_chunks), static_cast<std::uint32_t>(segment.chunks.size() + lost));
  SegmentStatic fixed = segment.fixed;
  const std::uint64_t hidden = texts == Texts::without_secrets ? scrub_header(fixed) : 0;
  seal(page, fixed, segment.header_is_damaged());
  out.write(reinterpret_cast<const char*>(page.data()), page.size());
  return hidden;
}

/// Of a watched process, only samples were thinned out, of which the largest values are kept: nothing is lost.
void count_thinned(const SegmentFile& segment, GatherSummary& summary) {
  if (is_watched(segment)) return;
  const bool has_steps = !segment.step_sums.empty();
  for (const ThinnedFields& fields : segment.thinned)
    (fields.without_sums != 0 ? summary.events_without_sums
     : has_steps              ? summary.events_thinned
                              : summary.events_without_steps) += fields.events;
}

}  // namespace

Result<GatherSummary> gather_into(const fs::path& source, std::ostream& out, Texts texts) {
  RS_TRY(const SegmentFile segment, read_segment(source));
  GatherSummary summary{.segments = 1, .events_dropped = segment.counters.events_dropped};
  summary.secrets_hidden = write_header(out, segment, texts);
  summary.bytes = segment_header_bytes;
  summary.world_size = std::max<std::int64_t>({0, segment.fixed.world_size, segment.counters.late_world_size});
  count_thinned(segment, summary);
  summary.evidence = {.has_rank = has_rank(segment), .level = work_level_of(segment)};
  std::vector<std::byte> scrubbed;
  for (Chunk chunk : segment.chunks) {
    if (texts == Texts::without_secrets) {
      scrubbed.assign(chunk.payload.begin(), chunk.payload.end());
      summary.secrets_hidden += scrub_payload(scrubbed);
      chunk.payload = scrubbed;
    }
    write_chunk(out, chunk);
    count_events(chunk, summary);
    collect_metadata(chunk, summary.metadata);
    summary.bytes += chunk_header_bytes + chunk.payload.size();
  }
  for (std::uint64_t damaged = segment.quality.of(Counter::chunks_corrupt); damaged > 0; --damaged) {
    write_damaged_chunk(out);
    summary.bytes += chunk_header_bytes;
  }
  return summary;
}

Result<GatherSummary> gather_segment(const fs::path& source, const fs::path& target, Texts texts) {
  const fs::path temporary = target.string() + ".part";
  std::ofstream out{temporary, std::ios::binary | std::ios::trunc};
  const auto summary = gather_into(source, out, texts);
  out.close();
  std::error_code error;
  if (!summary) {
    fs::remove(temporary, error);
    return summary;
  }
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
