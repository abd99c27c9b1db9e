#include "rankscope/core/recording/segment_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "rankscope/core/format.h"
#include "rankscope/core/process_stat.h"
#include "recording/format/crc32c.h"

namespace rankscope::recording {
namespace {

constexpr std::uint32_t chunks_per_extent = 16;
constexpr std::uint64_t extent_bytes = std::uint64_t{chunks_per_extent} * chunk_bytes;

template <std::size_t n>
void copy_text(std::array<char, n>& to, std::string_view from) {
  const std::size_t length = std::min(from.size(), n - 1);
  std::memcpy(to.data(), from.data(), length);
}

// Long enough for 1e-4; used only if the process dies before the second clock pair.
double measure_ticks_per_ns(const TickClock& clock) {
  if (clock.source() == ClockSource::monotonic_ns) return 1;
  const ClockPair first = clock.pair();
  while (static_cast<std::int64_t>(TickClock::now_monotonic()) < first.monotonic_ns + 300'000) {
  }
  const ClockPair second = clock.pair();
  return static_cast<double>(second.ticks - first.ticks) /
         static_cast<double>(second.monotonic_ns - first.monotonic_ns);
}

void fill_static(SegmentStatic& fixed, const SegmentOptions& options, const TickClock& clock) {
  fixed = SegmentStatic{};
  fixed.clock = clock.source();
  const bool watched = options.watched_pid != 0;
  const std::string process = watched ? std::to_string(options.watched_pid) : "self";
  fixed.pid = watched ? options.watched_pid : getpid();
  fixed.parent_pid = watched ? getpid() : getppid();
  if (const auto stat = process_stat(static_cast<pid_t>(fixed.pid)))
    fixed.start_ticks_of_boot = stat->start_ticks_of_boot;
  fixed.rank = options.rank;
  fixed.world_size = options.world_size;
  fixed.local_rank = options.local_rank;
  fixed.local_world_size = options.local_world_size;
  copy_text(fixed.rank_source, options.rank_source);
  copy_text(fixed.boot_id, boot_id());
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  copy_text(fixed.host, host.data());
  std::error_code ignored;
  copy_text(fixed.program, std::filesystem::read_symlink("/proc/" + process + "/exe", ignored).filename().string());
  fixed.ticks_per_ns = measure_ticks_per_ns(clock);
  fixed.first_pair = options.begun ? *options.begun : clock.pair();
}

// Takes the faults of first writing here, not in the program's threads: MAP_POPULATE maps shared pages for reading
// only, and each first write would cost some microseconds.
void make_writable(void* extent) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(extent, extent_bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  constexpr std::size_t smallest_page = 4096;
  for (std::size_t at = 0; at < extent_bytes; at += smallest_page) {
    auto* const byte = static_cast<volatile std::uint8_t*>(extent) + at;
    *byte = 0;
  }
}

void seal(ChunkHeader& chunk) {
  const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
  chunk.payload_crc = crc32c(&chunk + 1, committed);
  chunk.header_crc = crc32c(&committed, sizeof committed, crc32c(&chunk, offsetof(ChunkHeader, committed)));
  chunk.state.store(static_cast<std::uint32_t>(ChunkState::sealed), std::memory_order_release);
}

}  // namespace

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::create(const SegmentOptions& options) {
  std::unique_ptr<SegmentWriter> segment{new SegmentWriter};
  segment->path_ = options.path;
  segment->file_ = open(options.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (segment->file_ < 0)
    return fail(ErrorKind::cannot_write, format("cannot create {}: {}", options.path.string(), std::strerror(errno)));
  // Whatever goes wrong below, no half-made segment stays behind.
  const auto give_up = [&options](const std::string& what, int error) {
    unlink(options.path.c_str());
    return fail(ErrorKind::cannot_write, format("cannot {} {}: {}", what, options.path.string(), std::strerror(error)));
  };
  if (const int error = posix_fallocate(segment->file_, 0, segment_header_bytes); error != 0)
    return give_up("allocate", error);
  void* page = mmap(nullptr, segment_header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->file_, 0);
  if (page == MAP_FAILED) return give_up("map", errno);
  segment->clock_ = TickClock::detect();
  segment->header_ = new (page) SegmentHeader;
  fill_static(segment->header_->fixed, options, segment->clock_);
  segment->header_->static_crc = crc32c(&segment->header_->fixed, sizeof(SegmentStatic));
  segment->file_bytes_ = segment_header_bytes;
  segment->wanted_spares_ = std::max(chunks_per_extent, options.ring_kib * 1024 / chunk_bytes);
  segment->spares_ = std::vector<std::atomic<ChunkHeader*>>(segment->wanted_spares_ + chunks_per_extent);
  if (auto room = segment->add_extent(); !room) {
    unlink(options.path.c_str());
    return tl::make_unexpected(std::move(room).error());
  }
  segment->refill();  // the whole ring from the start: a program may begin with a burst
  return segment;
}

SegmentWriter::~SegmentWriter() {
  for (const Extent& extent : extents_) munmap(extent.memory, extent_bytes);
  if (header_ != nullptr) munmap(header_, segment_header_bytes);
  if (file_ >= 0) close(file_);
}

// The blocks are allocated before they are mapped: a full disk is an error here, never a SIGBUS in the program.
Result<void> SegmentWriter::add_extent() {
  if (const int error = posix_fallocate(file_, static_cast<off_t>(file_bytes_), static_cast<off_t>(extent_bytes));
      error != 0) {
    header_->extents_refused.fetch_add(1, std::memory_order_relaxed);
    return fail(ErrorKind::cannot_write, format("{} cannot grow: {}", path_.string(), std::strerror(error)));
  }
  void* memory =
      mmap(nullptr, extent_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(file_bytes_));
  if (memory == MAP_FAILED) {
    header_->extents_refused.fetch_add(1, std::memory_order_relaxed);
    return fail(ErrorKind::cannot_write, format("cannot map {}: {}", path_.string(), std::strerror(errno)));
  }
  make_writable(memory);
  file_bytes_ += extent_bytes;
  extents_.push_back({memory, chunks_per_extent});
  std::uint64_t tail = spare_tail_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < chunks_per_extent; ++i) {
    auto* chunk = new (static_cast<std::uint8_t*>(memory) + std::uint64_t{i} * chunk_bytes) ChunkHeader{};
    chunk->magic = chunk_magic;
    chunk->capacity = chunk_bytes - chunk_header_bytes;
    chunk->thread = free_thread;
    unsealed_.push_back(chunk);
    spares_[tail++ % spares_.size()].store(chunk, std::memory_order_relaxed);
  }
  spare_tail_.store(tail, std::memory_order_release);
  return {};
}

ChunkHeader* SegmentWriter::take_spare() {
  std::uint64_t head = spare_head_.load(std::memory_order_relaxed);
  while (head < spare_tail_.load(std::memory_order_acquire)) {
    // A slot is reused only after head has moved past it, so a stale read loses the exchange below.
    ChunkHeader* chunk = spares_[head % spares_.size()].load(std::memory_order_relaxed);
    if (spare_head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel, std::memory_order_relaxed))
      return chunk;
  }
  return nullptr;
}

void SegmentWriter::refill() {
  const std::uint64_t ready = spare_tail_.load(std::memory_order_relaxed) - spare_head_.load(std::memory_order_acquire);
  for (std::uint64_t spares = ready; spares < wanted_spares_; spares += chunks_per_extent)
    if (!add_extent()) break;
  seal_full_chunks();
}

void SegmentWriter::seal_full_chunks() {
  std::erase_if(unsealed_, [this](ChunkHeader* chunk) {
    if (chunk->state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(ChunkState::full)) return false;
    seal(*chunk);
    let_go(chunk);
    return true;
  });
}

// Nobody has a pointer into a sealed chunk any more; what is in it is the page cache's.
void SegmentWriter::let_go(const ChunkHeader* sealed) {
  const auto* const at = reinterpret_cast<const std::uint8_t*>(sealed);
  const auto extent = std::ranges::find_if(extents_, [at](const Extent& one) {
    const auto* const begin = static_cast<const std::uint8_t*>(one.memory);
    return at >= begin && at < begin + extent_bytes;
  });
  if (--extent->unsealed > 0) return;
  munmap(extent->memory, extent_bytes);
  extents_.erase(extent);
}

std::unique_ptr<ThreadWriter> SegmentWriter::thread() {
  return std::make_unique<ThreadWriter>(*this, header_->threads.fetch_add(1, std::memory_order_relaxed));
}

void SegmentWriter::note_exit(int status) {
  header_->exit_status.store(status, std::memory_order_relaxed);
  header_->end_ticks.store(clock_.now(), std::memory_order_relaxed);
  header_->end.store(static_cast<std::uint32_t>(ProcessEnd::exited), std::memory_order_release);
}

void SegmentWriter::learn_rank(std::int32_t rank, std::int32_t world_size) {
  header_->late_world_size.store(world_size, std::memory_order_relaxed);
  header_->late_rank.store(rank + 1, std::memory_order_release);
}

}  // namespace rankscope::recording
