// A segment that its process writes to, and that its recorder may thin out, while it is read.
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/own_file.h"
#include "rankscope/core/regular_file.h"
#include "recording/format/read_fully.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {
namespace {

constexpr std::uint16_t first_reused = 5;  // minor version: chunks of older segments are never written to again

bool is_open(const RawChunk& chunk) { return chunk.state == static_cast<std::uint32_t>(ChunkState::open); }
bool is_sealed(const RawChunk& chunk) { return chunk.state == static_cast<std::uint32_t>(ChunkState::sealed); }

/// Copies chunk by chunk: a file that was thinned out is much longer than what is in it.
class Copying {
 public:
  /// `to` is as long as the file and all zero.
  Copying(int file, std::span<std::byte> to) : file_(file), to_(to) {}

  /// Chunks that a recorder gives up vanish while they are copied: then it begins again, and copies only what changed.
  [[nodiscard]] bool copy() {
    constexpr int most_walks = 10;
    Walk ended = Walk::moved;
    for (int count = 0; count < most_walks && ended == Walk::moved; ++count) ended = walk();
    return ended == Walk::moved ? copy_rest(0) : ended == Walk::complete;
  }

 private:
  enum class Walk : std::uint8_t { complete, moved, unreadable };

  Walk walk() {
    const std::size_t page = std::min<std::size_t>(to_.size(), segment_header_bytes);
    if (!read_fully(file_, 0, to_.first(page))) return Walk::unreadable;
    const auto fixed = read_fixed(to_.first(page));
    std::size_t offset = fixed ? fixed->header_bytes : 0;
    open_.clear();
    latest_.clear();
    while (offset + chunk_header_bytes <= to_.size()) {
      RawChunk header{};
      if (!read_fully(file_, offset, std::as_writable_bytes(std::span{&header, 1}))) return Walk::unreadable;
      if (!plausible(header)) {
        if (!copy_rest(offset)) return Walk::unreadable;
        break;
      }
      const Walk copied = copy_chunk(offset, header);
      if (copied != Walk::complete) return copied;
      note(offset, header);
      offset += chunk_header_bytes + header.capacity;
    }
    return copy_ends();
  }

  struct OpenChunk {
    std::size_t offset = 0;
    std::uint32_t thread = 0;
    std::uint32_t sequence = 0;
  };

  void note(std::size_t offset, const RawChunk& header) {
    if (header.thread == free_thread) return;
    std::uint32_t& latest = latest_[header.thread];
    latest = std::max(latest, header.sequence);
    if (is_open(header)) open_.push_back({offset, header.thread, header.sequence});
  }

  /// A thread may have taken its next chunk after its last one was copied, and before the next one was. The last one is
  /// full since, and is copied once more with its end.
  Walk copy_ends() {
    for (const OpenChunk& chunk : open_) {
      if (latest_[chunk.thread] == chunk.sequence) continue;
      RawChunk header{};
      if (!read_fully(file_, chunk.offset, std::as_writable_bytes(std::span{&header, 1}))) return Walk::unreadable;
      if (header.thread != chunk.thread || header.sequence != chunk.sequence) return Walk::moved;
      if (const Walk copied = copy_chunk(chunk.offset, header); copied != Walk::complete) return copied;
    }
    return Walk::complete;
  }

  /// The header is read once more behind the payload: it is there until the payload is not.
  Walk copy_chunk(std::size_t offset, const RawChunk& before) {
    if (is_sealed(before) && std::memcmp(to_.data() + offset, &before, sizeof before) == 0) return Walk::complete;
    const auto payload = to_.subspan(offset + chunk_header_bytes);
    if (!read_fully(file_, offset + chunk_header_bytes,
                    payload.first(std::min<std::size_t>(before.committed, payload.size()))))
      return Walk::unreadable;
    RawChunk after{};
    if (!read_fully(file_, offset, std::as_writable_bytes(std::span{&after, 1}))) return Walk::unreadable;
    const bool goes_on = after.thread == before.thread && after.sequence == before.sequence &&
                         after.committed >= before.committed && after.state >= before.state;
    if (after.magic != chunk_magic || (before.thread != free_thread && !goes_on)) return Walk::moved;
    // What was sealed before is sealed completely now, with its checksums.
    const RawChunk& seen = is_sealed(before) ? after : before;
    std::memcpy(to_.data() + offset, &seen, sizeof seen);
    return Walk::complete;
  }

  /// Room that no chunk is made of yet, or damage.
  bool copy_rest(std::size_t offset) {
    std::vector<std::byte> block(64 * 1024);
    for (; offset < to_.size(); offset += block.size()) {
      const auto part = std::span{block}.first(std::min(block.size(), to_.size() - offset));
      if (!read_fully(file_, offset, part)) return false;
      if (std::ranges::any_of(part, [](std::byte byte) { return byte != std::byte{0}; }))
        std::ranges::copy(part, to_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    return true;
  }

  int file_;
  std::span<std::byte> to_;
  std::vector<OpenChunk> open_;                    // that were so when they were copied
  std::map<std::uint32_t, std::uint32_t> latest_;  // sequence of each thread
};

/// Behind which chunk of a thread others are missing that were not thinned out.
struct Gap {
  std::uint32_t thread = 0;
  std::uint32_t expected = 0;
  bool operator==(const Gap&) const = default;
};

std::vector<Gap> gaps_of(const SegmentFile& segment) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < segment.chunks.size(); ++i) {
    const Chunk& chunk = segment.chunks[i];
    const bool follows = i > 0 && segment.chunks[i - 1].thread == chunk.thread;
    const std::uint32_t expected = follows ? segment.chunks[i - 1].sequence + 1 : 0;
    if (chunk.sequence <= expected || chunk.thread == sums_thread) continue;
    if (thinned_among(segment, chunk.thread, expected, chunk.sequence) < chunk.sequence - expected)
      gaps.push_back({chunk.thread, expected});
  }
  return gaps;
}

/// What comes behind a gap that was not there in the reading before was written meanwhile: it is too new.
void leave_out_behind(const std::vector<Gap>& gaps, const std::vector<Gap>& before, SegmentFile& segment) {
  for (const Gap& gap : gaps) {
    if (std::ranges::find(before, gap) != before.end()) continue;
    std::erase_if(segment.chunks,
                  [&gap](const Chunk& chunk) { return chunk.thread == gap.thread && chunk.sequence > gap.expected; });
  }
}

}  // namespace

bool may_be_thinned_out(const SegmentStatic& fixed) { return fixed.sealed == 0 && fixed.minor >= first_reused; }

Result<MappedFile> MappedFile::copy(const std::filesystem::path& path) {
  RS_TRY(const int opened, open_regular_file(path));
  const OwnFile own{opened};
  const int file = own.file();
  const auto unreadable = [&path] { return fail(ErrorKind::unreadable, format("cannot read {}", path.string())); };
  struct stat facts {};
  if (fstat(file, &facts) != 0 || facts.st_size <= 0) return unreadable();
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return unreadable();
  MappedFile result;
  result.bytes_ = {static_cast<const std::byte*>(memory), size};
  if (!Copying{file, {static_cast<std::byte*>(memory), size}}.copy()) return unreadable();
  return result;
}

/// It is read again if a chunk moved meanwhile. A gap that is there each time is a loss.
Result<SegmentFile> read_while_in_use(const std::filesystem::path& path) {
  constexpr int most_readings = 3;
  std::vector<Gap> before;
  for (int reading = 1;; ++reading) {
    RS_TRY(MappedFile file, MappedFile::copy(path));
    auto segment = read_mapped(path, std::move(file));
    if (!segment) return segment;
    std::vector<Gap> gaps = gaps_of(*segment);
    const bool is_whole = gaps.empty() && segment->quality.of(Counter::chunks_corrupt) == 0;
    if (reading == most_readings) leave_out_behind(gaps, before, *segment);
    if (is_whole || reading == most_readings) return segment;
    before = std::move(gaps);
  }
}

}  // namespace rankscope::recording
