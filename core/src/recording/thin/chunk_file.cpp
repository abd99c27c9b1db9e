#include "recording/thin/chunk_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "rankscope/core/format.h"
#include "recording/format/read_fully.h"

namespace rankscope::recording {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span{&value, 1});
}

}  // namespace

Result<ChunkFile> ChunkFile::open(const std::filesystem::path& path) {
  OwnFile file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.file() < 0)
    return fail(ErrorKind::cannot_write, format("cannot open {}: {}", path.string(), std::strerror(errno)));
  return ChunkFile{std::move(file)};
}

bool ChunkFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  return read_fully(file_.file(), offset, into);
}

bool ChunkFile::write(std::uint64_t offset, std::span<const std::byte> from) {
  while (!from.empty()) {
    const ssize_t put = pwrite(file_.file(), from.data(), from.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from = from.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

bool ChunkFile::write_zeros(std::uint64_t begin, std::uint64_t end) {
  constexpr std::array<std::byte, 64 * 1024> zeros{};
  for (std::uint64_t at = begin; at < end; at += zeros.size())
    if (!write(at, std::span{zeros}.first(std::min<std::uint64_t>(zeros.size(), end - at)))) return false;
  return true;
}

std::optional<RawChunk> ChunkFile::header(std::uint64_t offset) const {
  RawChunk header{};
  if (!read(offset, std::as_writable_bytes(std::span{&header, 1})) || !plausible(header)) return std::nullopt;
  return header;
}

std::optional<std::vector<std::byte>> ChunkFile::payload(std::uint64_t offset, std::uint32_t bytes) const {
  std::vector<std::byte> payload(bytes);
  if (!read(offset + chunk_header_bytes, payload)) return std::nullopt;
  return payload;
}

// The state comes first: from then on no reader expects a checksum. The length comes with the rest of the header, and
// only then do the chunks in it vanish.
bool ChunkFile::empty(const PageRun& run) {
  const std::uint32_t open_state = static_cast<std::uint32_t>(ChunkState::open);
  if (!write(run.begin + offsetof(RawChunk, state), bytes_of(open_state))) return false;
  RawChunk header{};
  header.magic = chunk_magic;
  header.capacity = static_cast<std::uint32_t>(run.bytes - chunk_header_bytes);
  header.thread = free_thread;
  if (!write(run.begin, bytes_of(header))) return false;
  if (!write_zeros(run.begin + sizeof header, run.begin + run_page_bytes)) return false;
  const auto begin = static_cast<off_t>(run.begin + run_page_bytes);
  const auto bytes = static_cast<off_t>(run.bytes - run_page_bytes);
  if (bytes == 0) return true;
  if (fallocate(file_.file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, bytes) == 0) return true;
  return write_zeros(run.begin + run_page_bytes, run.begin + run.bytes);  // a file system that cannot free a part
}

bool ChunkFile::hand_back(const PageRun& run) {
  std::array<std::uint64_t, 2> counts{};  // handed back, taken back
  static_assert(offsetof(SegmentHeader, taken_back) == offsetof(SegmentHeader, handed_back) + 8);
  if (!read(offsetof(SegmentHeader, handed_back), std::as_writable_bytes(std::span{counts}))) return false;
  if (counts[0] - counts[1] >= most_handed_back) return false;
  const std::uint64_t packed = packed_run(run);
  const std::uint64_t next = counts[0] + 1;
  return write(offsetof(SegmentHeader, runs) + counts[0] % most_handed_back * sizeof packed, bytes_of(packed)) &&
         write(offsetof(SegmentHeader, handed_back), bytes_of(next));
}

}  // namespace rankscope::recording
