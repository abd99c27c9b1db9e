#include "recording/live/segment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include "rankscope/core/regular_file.h"

namespace rankscope::recording {
namespace {

constexpr auto open_state = static_cast<std::uint32_t>(ChunkState::open);

}  // namespace

LiveSegment::LiveSegment(LiveSegment&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      fixed_(other.fixed_),
      counters_(other.counters_),
      chunks_(std::move(other.chunks_)),
      found_(std::move(other.found_)),
      next_sequence_(std::move(other.next_sequence_)),
      next_chunk_(other.next_chunk_),
      taken_(other.taken_),
      behind_(other.behind_),
      damaged_(other.damaged_),
      buffer_(std::move(other.buffer_)) {}

LiveSegment::~LiveSegment() {
  if (file_ >= 0) close(file_);
}

bool LiveSegment::open_file() {
  if (file_ < 0) file_ = open_regular_file(path_).value_or(-1);
  return file_ >= 0;
}

bool LiveSegment::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

bool LiveSegment::read_page() {
  std::array<std::byte, segment_header_bytes> page;
  if (!read(0, page)) return false;
  if (!fixed_) {
    const auto fixed = read_fixed(page);
    if (!fixed) return false;  // perhaps it is just being made
    fixed_ = *fixed;
    next_chunk_ = fixed->header_bytes;
  }
  counters_ = read_counters(page);
  return true;
}

void LiveSegment::find_chunks() {
  while (!damaged_) {
    Followed chunk{.offset = next_chunk_};
    if (!read(chunk.offset, std::as_writable_bytes(std::span{&chunk.header, 1}))) return;
    if (chunk.header.magic == 0 || chunk.header.capacity == 0) return;  // room for it is there, but it is not made yet
    damaged_ = !plausible(chunk.header);
    if (damaged_) return;
    next_chunk_ += chunk_header_bytes + chunk.header.capacity;
    chunks_.push_back(chunk);
  }
}

/// A thread that ends leaves the rest of its chunk to others: it becomes chunks of its own.
void LiveSegment::find_rest(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    Followed chunk{.offset = begin};
    if (!read(chunk.offset, std::as_writable_bytes(std::span{&chunk.header, 1}))) return;
    begin += chunk_header_bytes + chunk.header.capacity;
    damaged_ = damaged_ || !plausible(chunk.header) || begin > end;
    if (damaged_) return;
    found_.push_back(chunk);
  }
}

bool LiveSegment::read_header(const Followed& chunk, RawChunk& header) {
  if (!read(chunk.offset, std::as_writable_bytes(std::span{&header, 1}))) return false;
  const bool goes_on = header.committed >= chunk.taken && header.capacity <= chunk.header.capacity;
  damaged_ = damaged_ || !plausible(header) || !goes_on;
  return !damaged_;
}

/// The last words of a chunk are written before its state changes: only what is read after that is all of it.
void LiveSegment::refresh(Followed& chunk) {
  RawChunk header{};
  for (int look = 0; look < 2; ++look) {
    if (!read_header(chunk, header)) return;
    const std::uint64_t payload = chunk.offset + chunk_header_bytes;
    find_rest(payload + header.capacity, payload + chunk.header.capacity);
    const bool is_final = chunk.header.state != open_state;
    chunk.header = header;
    if (is_final || header.state == open_state) return;
  }
}

void LiveSegment::refresh_all() {
  for (Followed& chunk : chunks_) refresh(chunk);
  while (!found_.empty()) {
    Followed chunk = found_.back();
    found_.pop_back();
    refresh(chunk);
    chunks_.push_back(chunk);
  }
}

bool LiveSegment::follow(Followed& chunk, std::uint64_t budget, const std::function<void(const LivePiece&)>& take) {
  const std::uint32_t fresh = chunk.header.committed - chunk.taken;
  if (taken_ > 0 && taken_ + fresh > budget) {
    behind_ += fresh;
    return false;
  }
  if (fresh > 0) {
    buffer_.resize(fresh);
    if (!read(chunk.offset + chunk_header_bytes + chunk.taken, buffer_)) return false;
    take({chunk.header.thread, chunk.taken == 0, buffer_});
    chunk.taken += fresh;
    taken_ += fresh;
  }
  return chunk.header.state != open_state;
}

bool LiveSegment::poll(std::uint64_t budget, const std::function<void(const LivePiece&)>& take) {
  taken_ = behind_ = 0;
  if (!open_file() || !read_page()) return false;
  find_chunks();
  refresh_all();
  std::vector<Followed*> taken;  // by threads
  for (Followed& chunk : chunks_)
    if (chunk.header.thread != free_thread) taken.push_back(&chunk);
  std::ranges::sort(taken, {}, [](const Followed* chunk) {
    return std::tuple{chunk->header.thread, chunk->header.sequence};
  });
  constexpr std::uint64_t done = 0;  // no chunk begins there
  for (Followed* const chunk : taken) {
    std::uint32_t& next = next_sequence_[chunk->header.thread];
    if (chunk->header.sequence != next) {
      behind_ += chunk->header.committed;  // the one before it has not been read to its end
    } else if (follow(*chunk, budget, take)) {
      ++next;
      chunk->offset = done;
    }
  }
  std::erase_if(chunks_, [](const Followed& chunk) {
    const bool is_unused = chunk.header.thread == free_thread && chunk.header.state != open_state;
    return chunk.offset == done || is_unused;
  });
  return true;
}

}  // namespace rankscope::recording
