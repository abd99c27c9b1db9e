// A segment file as chunks and records: everything that is checked before a byte is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/model/quality.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/result.h"

namespace rankscope::recording {

class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
  /// What is in the chunks of the segment now, whatever happens to it later.
  [[nodiscard]] static Result<MappedFile> copy(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
};

/// One intact chunk that a thread has written to.
struct Chunk {
  std::uint32_t thread = 0;
  std::uint32_t sequence = 0;
  std::int64_t os_thread = 0;
  bool sealed = false;
  std::span<const std::byte> payload;  ///< whole records
};

/// The counters of a segment's header as plain values.
struct SegmentCounters {
  std::uint64_t events_dropped = 0;
  std::uint64_t extents_refused = 0;
  std::uint64_t names_truncated = 0;
  ProcessEnd end = ProcessEnd::running;
  std::int32_t exit_status = 0;
  std::uint64_t end_ticks = 0;
  std::int32_t late_rank = 0;
  std::int32_t late_world_size = 0;
  std::uint32_t packed_chunks = 0;
  std::uint64_t handed_back = 0;
  std::uint64_t taken_back = 0;
};

/// Header of a chunk as plain values; the atomics of ChunkHeader cannot be copied.
struct RawChunk {
  std::uint32_t magic, capacity, thread, sequence;
  std::int64_t os_thread;
  std::uint32_t committed, state, payload_crc, header_crc;
};
static_assert(offsetof(RawChunk, committed) == offsetof(ChunkHeader, committed));
static_assert(offsetof(RawChunk, header_crc) == offsetof(ChunkHeader, header_crc));

/// False for bytes that cannot be the header of a chunk.
[[nodiscard]] bool plausible(const RawChunk& chunk);
/// Of the first page of a segment: the checksum of all its bytes but those in which it is stored.
[[nodiscard]] std::uint32_t page_checksum(std::span<const std::byte> page);
/// Of the first page of a segment.
[[nodiscard]] SegmentCounters read_counters(std::span<const std::byte> page);
/// Fails (`unreadable`) when the first page of a segment cannot be used or is of a newer major version.
[[nodiscard]] Result<SegmentStatic> read_fixed(std::span<const std::byte> page);

/// A foreign clock showed `ns` at `ticks` of the segment's.
struct Anchor {
  ForeignClock clock = ForeignClock::activities;
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

/// The process is `rank` of a communicator.
struct Joined {
  std::string communicator;
  std::uint32_t ranks = 0;  ///< 0 = unknown
  std::int32_t rank = -1;   ///< -1 = unknown
};

/// What stands for a step whose events were thinned out.
struct StepSums {
  std::uint8_t kind = 0;  ///< SpanKind of the step's span
  std::string name;
  StepSumsFields fields{};
};

/// Whether a segment is read while its recorder may thin it out.
enum class Segments : std::uint8_t { at_rest, in_use };

struct SegmentFile {
  MappedFile file;
  std::optional<MappedFile> sums_file;  ///< of a live segment that was thinned out
  SegmentStatic fixed;
  SegmentCounters counters;  ///< all 0 if the header is damaged
  std::vector<Chunk>
      chunks;  ///< by (thread, sequence), those of sums_thread first; without those that were thinned out
  std::vector<ClockPair> clock_pairs;
  std::vector<Anchor> anchors;
  std::vector<Joined> joined;
  std::vector<StepSums> step_sums;     ///< by begin
  std::vector<ThinnedFields> thinned;  ///< by (thread, first sequence)
  Quality quality;                     ///< what was wrong with the file

  [[nodiscard]] bool header_is_damaged() const { return quality.of(Counter::header_damaged) > 0; }
};

/// Where the sums of a live segment are.
[[nodiscard]] std::filesystem::path sums_of(const std::filesystem::path& segment);

/// Fails (`unreadable`) when the header cannot be used or is of a newer major version. With its sums, if it has some.
[[nodiscard]] Result<SegmentFile> read_segment(const std::filesystem::path& path, Segments state = Segments::at_rest);

/// The same of a file that was mapped or copied.
[[nodiscard]] Result<SegmentFile> read_mapped(const std::filesystem::path& path, MappedFile file);
/// False if nothing is written to these chunks again.
[[nodiscard]] bool may_be_thinned_out(const SegmentStatic& fixed);
/// Reads a copy: chunks are overwritten meanwhile. What is written last may be missing.
[[nodiscard]] Result<SegmentFile> read_while_in_use(const std::filesystem::path& path);

/// How many of the chunks [first, end) of a thread were thinned out.
[[nodiscard]] std::uint64_t thinned_among(const SegmentFile& segment, std::uint32_t thread, std::uint32_t first,
                                          std::uint32_t end);

/// A record of a chunk. Fields beyond its length read as 0.
struct Record {
  RecordHead head;
  std::span<const std::byte> body;

  [[nodiscard]] std::uint64_t word(std::size_t index) const {
    std::uint64_t value = 0;
    if (index * 8 + 8 <= body.size()) std::memcpy(&value, body.data() + index * 8, 8);
    return value;
  }
};

/// Walks the records of a payload; stops at the first one that cannot be one.
class RecordWalk {
 public:
  explicit RecordWalk(std::span<const std::byte> payload) : rest_(payload) {}
  /// False at the end.
  bool next(Record& record) {
    if (rest_.size() < sizeof(RecordHead)) return false;
    std::memcpy(&record.head, rest_.data(), sizeof(RecordHead));
    const std::size_t bytes = std::size_t{record.head.words} * 8;
    if (bytes < sizeof(RecordHead) || bytes > rest_.size()) return false;
    record.body = rest_.subspan(sizeof(RecordHead), bytes - sizeof(RecordHead));
    rest_ = rest_.subspan(bytes);
    return true;
  }
  /// True if the walk ended before the payload did.
  [[nodiscard]] bool broken() const { return !rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace rankscope::recording
