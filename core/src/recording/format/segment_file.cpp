#include "recording/format/segment_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/regular_file.h"
#include "recording/format/crc32c.h"

namespace rankscope::recording {
namespace {

constexpr std::uint32_t largest_capacity = 64U << 20;
constexpr std::int64_t largest_step = std::int64_t{1} << 53;  // a larger number is damage

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// In a sealed segment all chunks are sealed, too.
bool checksum_holds(const RawChunk& chunk, std::span<const std::byte> payload, bool all_sealed) {
  if (chunk.state != static_cast<std::uint32_t>(ChunkState::sealed)) return !all_sealed;
  const std::uint32_t header =
      crc32c(&chunk.committed, sizeof chunk.committed, crc32c(&chunk, offsetof(RawChunk, committed)));
  return header == chunk.header_crc && payload.size() == chunk.committed &&
         crc32c(payload.data(), payload.size()) == chunk.payload_crc;
}

// Where a header is damaged the next one is looked for; headers stand on multiples of 8.
std::size_t next_header(std::span<const std::byte> bytes, std::size_t offset) {
  for (offset += 8; offset + chunk_header_bytes <= bytes.size(); offset += 8)
    if (read_at<std::uint32_t>(bytes, offset) == chunk_magic && plausible(read_at<RawChunk>(bytes, offset)))
      return offset;
  return bytes.size();
}

/// What has to be known before the first event is read; here the bytes are still near.
void take_early(const Record& record, std::span<const std::string_view> names, SegmentFile& segment) {
  const auto signed_word = [&record](std::size_t index) { return static_cast<std::int64_t>(record.word(index)); };
  switch (static_cast<RecordType>(record.head.type)) {
    case RecordType::clock_pair:
      segment.clock_pairs.push_back({record.word(0), signed_word(1), signed_word(2)});
      return;
    case RecordType::anchor:
      segment.anchors.push_back({static_cast<ForeignClock>(record.head.code), record.word(0), signed_word(1)});
      return;
    case RecordType::communicator:
      if (record.head.name < names.size())
        segment.joined.push_back({std::string{names[record.head.name]}, static_cast<std::uint32_t>(record.word(0)),
                                  static_cast<std::int32_t>(record.word(0) >> 32)});
      return;
    case RecordType::step_sums: {
      StepSums sums{.kind = record.head.code, .name = {}};
      if (record.head.name < names.size()) sums.name = names[record.head.name];
      std::memcpy(&sums.fields, record.body.data(), std::min(sizeof sums.fields, record.body.size()));
      if (sums.fields.index < 0 || sums.fields.index > largest_step)
        return segment.quality.add(Counter::records_unknown);
      segment.step_sums.push_back(std::move(sums));
      return;
    }
    case RecordType::thinned: {
      ThinnedFields fields{};
      std::memcpy(&fields, record.body.data(), std::min(sizeof fields, record.body.size()));
      segment.thinned.push_back(fields);
      return;
    }
    default:
      return;
  }
}

void take_chunk(const Chunk& chunk, SegmentFile& segment) {
  segment.chunks.push_back(chunk);
  std::vector<std::string_view> names;
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);) {
    if (record.head.type != static_cast<std::uint8_t>(RecordType::string)) {
      take_early(record, names, segment);
    } else if (record.head.name == names.size() && record.body.size() >= 8) {
      const auto bytes = record.body.subspan(8);
      names.emplace_back(reinterpret_cast<const char*>(bytes.data()),
                         std::min<std::size_t>(record.word(0), bytes.size()));
    }
  }
}

/// What the chunks of a file belong to.
enum class ChunksOf : std::uint8_t { process, sums };

struct Walked {
  std::uint32_t seen = 0;
  bool to_the_end = true;
};

Walked walk_chunks(std::span<const std::byte> bytes, std::size_t offset, ChunksOf of, SegmentFile& segment) {
  const bool all_sealed = of == ChunksOf::process && segment.fixed.sealed != 0;
  Walked walked;
  while (offset + chunk_header_bytes <= bytes.size()) {
    const auto raw = read_at<RawChunk>(bytes, offset);
    if (!plausible(raw)) {
      const bool never_written = raw.magic == 0;
      if (!never_written) segment.quality.add(Counter::chunks_corrupt);
      offset = next_header(bytes, offset);
      continue;
    }
    ++walked.seen;
    const std::size_t begin = offset + chunk_header_bytes;
    const std::size_t there = std::min<std::size_t>(raw.committed, (bytes.size() - begin) / 8 * 8);
    const auto payload = bytes.subspan(begin, there);
    const bool cut = there < raw.committed;
    if (cut) segment.quality.add(Counter::segment_cut);
    if (!cut && !checksum_holds(raw, payload, all_sealed))
      segment.quality.add(Counter::chunks_corrupt);
    else if (raw.thread != free_thread && there > 0)
      take_chunk({of == ChunksOf::sums ? sums_thread : raw.thread, raw.sequence, raw.os_thread,
                  raw.state == static_cast<std::uint32_t>(ChunkState::sealed), payload},
                 segment);
    offset = begin + raw.capacity;
  }
  walked.to_the_end = offset == bytes.size();
  return walked;
}

void walk_segment(SegmentFile& segment) {
  const auto [seen, to_the_end] =
      walk_chunks(segment.file.bytes(), segment.fixed.header_bytes, ChunksOf::process, segment);
  const bool tail_missing = !to_the_end || seen < segment.counters.packed_chunks;
  if (tail_missing && segment.quality.of(Counter::segment_cut) == 0) segment.quality.add(Counter::segment_cut);
}

/// The recorder says so before it gives chunks up, so that some may still be there.
void leave_out_thinned(SegmentFile& segment) {
  std::ranges::sort(segment.thinned, {}, [](const ThinnedFields& one) {
    return std::tuple{one.thread, one.first_sequence};
  });
  if (segment.thinned.empty()) return;
  std::erase_if(segment.chunks, [&segment](const Chunk& chunk) {
    return thinned_among(segment, chunk.thread, chunk.sequence, chunk.sequence + 1) > 0;
  });
}

}  // namespace

std::filesystem::path sums_of(const std::filesystem::path& segment) {
  return segment.parent_path() / sums_folder / segment.filename();
}

std::uint64_t thinned_among(const SegmentFile& segment, std::uint32_t thread, std::uint32_t first, std::uint32_t end) {
  // The one before may reach into the range.
  auto one = std::ranges::upper_bound(segment.thinned, std::tuple{thread, first}, {}, [](const ThinnedFields& fields) {
    return std::tuple{fields.thread, fields.first_sequence};
  });
  if (one != segment.thinned.begin()) --one;
  std::uint64_t chunks = 0;
  for (; one != segment.thinned.end() && std::tuple{one->thread, one->first_sequence} < std::tuple{thread, end};
       ++one) {
    if (one->thread != thread) continue;
    const std::uint64_t from = std::max(one->first_sequence, first);
    const std::uint64_t to = std::min<std::uint64_t>(std::uint64_t{one->first_sequence} + one->chunks, end);
    if (to > from) chunks += to - from;
  }
  return chunks;
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  RS_TRY(const int file, open_regular_file(path));
  struct stat facts {};
  const bool known = fstat(file, &facts) == 0;
  MappedFile result;
  if (known && facts.st_size > 0) {
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) result.bytes_ = {static_cast<const std::byte*>(memory), size};
  }
  close(file);
  if (!known || (facts.st_size > 0 && result.bytes_.empty()))
    return fail(ErrorKind::unreadable, format("cannot map {}", path.string()));
  return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool plausible(const RawChunk& chunk) {
  return chunk.magic == chunk_magic && chunk.capacity <= largest_capacity && chunk.capacity % 8 == 0 &&
         chunk.committed <= chunk.capacity && chunk.committed % 8 == 0 &&
         chunk.state <= static_cast<std::uint32_t>(ChunkState::sealed);
}

std::uint32_t page_checksum(std::span<const std::byte> page) {
  constexpr std::size_t behind = offsetof(SegmentHeader, page_crc) + sizeof SegmentHeader::page_crc;
  const std::uint32_t front = crc32c(page.data(), offsetof(SegmentHeader, page_crc));
  return crc32c(page.data() + behind, segment_header_bytes - behind, front);
}

SegmentCounters read_counters(std::span<const std::byte> page) {
  return {.events_dropped = read_at<std::uint64_t>(page, offsetof(SegmentHeader, events_dropped)),
          .extents_refused = read_at<std::uint64_t>(page, offsetof(SegmentHeader, extents_refused)),
          .names_truncated = read_at<std::uint64_t>(page, offsetof(SegmentHeader, names_truncated)),
          .end = read_at<ProcessEnd>(page, offsetof(SegmentHeader, end)),
          .exit_status = read_at<std::int32_t>(page, offsetof(SegmentHeader, exit_status)),
          .end_ticks = read_at<std::uint64_t>(page, offsetof(SegmentHeader, end_ticks)),
          .late_rank = read_at<std::int32_t>(page, offsetof(SegmentHeader, late_rank)),
          .late_world_size = read_at<std::int32_t>(page, offsetof(SegmentHeader, late_world_size)),
          .packed_chunks = read_at<std::uint32_t>(page, offsetof(SegmentHeader, packed_chunks)),
          .handed_back = read_at<std::uint64_t>(page, offsetof(SegmentHeader, handed_back)),
          .taken_back = read_at<std::uint64_t>(page, offsetof(SegmentHeader, taken_back))};
}

Result<SegmentStatic> read_fixed(std::span<const std::byte> page) {
  if (page.size() < segment_header_bytes) return fail(ErrorKind::unreadable, "it is shorter than its header");
  SegmentStatic fixed;
  std::memcpy(static_cast<void*>(&fixed), page.data(), sizeof fixed);
  if (fixed.magic != segment_magic) return fail(ErrorKind::unreadable, "it is not a rankscope segment");
  if (fixed.major > format_major)
    return fail(ErrorKind::unreadable,
                format("it has format version {}.{}; this rankscope reads formats up to {}.x: use a newer rankscope",
                       fixed.major, fixed.minor, format_major));
  if (crc32c(page.data(), sizeof fixed) != read_at<std::uint32_t>(page, offsetof(SegmentHeader, static_crc)))
    return fail(ErrorKind::unreadable, "its header is damaged (checksum)");
  return fixed;
}

namespace {

/// What changes while the process runs is known only if the page is as it was written.
void take_counters(SegmentFile& segment) {
  const auto page = segment.file.bytes();
  const bool sealed = segment.fixed.sealed != 0;
  if (sealed && page_checksum(page) != read_at<std::uint32_t>(page, offsetof(SegmentHeader, page_crc)))
    segment.quality.add(Counter::header_damaged);
  else
    segment.counters = read_counters(page);
}

/// True for a live segment whose sums are beside it; of a packed one they are in it.
bool has_sums_beside(const SegmentFile& segment, const std::filesystem::path& path) {
  std::error_code error;
  return segment.fixed.sealed == 0 && std::filesystem::exists(sums_of(path), error);
}

/// What the recorder left there when it was stopped before it wrote anything.
bool was_never_written(std::span<const std::byte> bytes) {
  const auto page = bytes.first(std::min<std::size_t>(bytes.size(), segment_header_bytes));
  return std::ranges::all_of(page, [](std::byte byte) { return byte == std::byte{0}; });
}

/// After the chunks of the segment have been read: what was given up meanwhile is listed here. A file that is damaged
/// stands for nothing, but the segment is read.
void add_sums(SegmentFile& segment, const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  const auto fixed = file ? read_fixed(file->bytes()) : Result<SegmentStatic>{tl::make_unexpected(file.error())};
  const bool is_usable = fixed && fixed->header_bytes >= sizeof(SegmentHeader);
  if (!is_usable && (!file || !was_never_written(file->bytes()))) segment.quality.add(Counter::chunks_corrupt);
  if (!is_usable) return;
  segment.sums_file = std::move(*file);
  walk_chunks(segment.sums_file->bytes(), fixed->header_bytes, ChunksOf::sums, segment);
}

}  // namespace

Result<SegmentFile> read_mapped(const std::filesystem::path& path, MappedFile file) {
  const auto context = while_doing(format("segment {}", path.string()));
  SegmentFile segment{.file = std::move(file),
                      .sums_file = {},
                      .fixed = {},
                      .counters = {},
                      .chunks = {},
                      .clock_pairs = {},
                      .anchors = {},
                      .joined = {},
                      .step_sums = {},
                      .thinned = {},
                      .quality = {}};
  RS_TRY(segment.fixed, read_fixed(segment.file.bytes()).map_error(context));
  take_counters(segment);
  const std::uint32_t header = segment.fixed.header_bytes;
  if (header < sizeof(SegmentHeader) || header > segment.file.bytes().size())
    return tl::make_unexpected(context({ErrorKind::unreadable, "its header is cut off"}));
  segment.clock_pairs.push_back(segment.fixed.first_pair);
  walk_segment(segment);
  if (has_sums_beside(segment, path)) add_sums(segment, sums_of(path));
  leave_out_thinned(segment);
  std::ranges::sort(segment.step_sums, {}, [](const StepSums& sums) { return sums.fields.begin; });
  std::ranges::sort(segment.chunks, {}, [](const Chunk& chunk) {
    return std::tuple{chunk.thread != sums_thread, chunk.thread, chunk.sequence};
  });
  return segment;
}

Result<SegmentFile> read_segment(const std::filesystem::path& path, Segments state) {
  RS_TRY(MappedFile file, MappedFile::open(path));
  if (state == Segments::in_use)
    if (const auto fixed = read_fixed(file.bytes()); fixed && may_be_thinned_out(*fixed))
      return read_while_in_use(path);
  return read_mapped(path, std::move(file));
}

}  // namespace rankscope::recording
