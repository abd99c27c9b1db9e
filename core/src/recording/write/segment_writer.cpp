#include "rankscope/core/recording/segment_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "rankscope/core/format.h"
#include "rankscope/core/process_stat.h"
#include "recording/format/crc32c.h"
#include "recording/write/chunk_space.h"
#include "recording/write/file_space.h"

namespace rankscope::recording {
namespace {

constexpr std::uint64_t least_burst_bytes = 1024 * 1024;

template <std::size_t n>
void copy_text(std::array<char, n>& to, std::string_view from) {
  const std::size_t length = std::min(from.size(), n - 1);
  std::memcpy(to.data(), from.data(), length);
}

// Long enough for 1e-4; used only if the process dies before the second clock pair.
double measure_ticks_per_ns(const TickClock& clock) {
  const ClockPair first = clock.pair();
  while (static_cast<std::int64_t>(TickClock::now_monotonic()) < first.monotonic_ns + 300'000) {
  }
  const ClockPair second = clock.pair();
  return static_cast<double>(second.ticks - first.ticks) /
         static_cast<double>(second.monotonic_ns - first.monotonic_ns);
}

/// Once for a process and all that it forks, since it takes a while.
double ticks_per_ns(const TickClock& clock) {
  static std::atomic<double> measured{0};
  if (clock.source() == ClockSource::monotonic_ns) return 1;
  if (measured.load(std::memory_order_relaxed) == 0)
    measured.store(measure_ticks_per_ns(clock), std::memory_order_relaxed);
  return measured.load(std::memory_order_relaxed);
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
  fixed.ticks_per_ns = ticks_per_ns(clock);
  fixed.first_pair = options.begun ? *options.begun : clock.pair();
}

/// A new file with room for its header and its first chunks.
Result<OwnFile> create_file(const std::filesystem::path& path) {
  OwnFile file{open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
  if (file.file() < 0)
    return fail(ErrorKind::cannot_write, format("cannot create {}: {}", path.string(), std::strerror(errno)));
  const int error = allocate_space(file.file(), 0, first_file_bytes);
  if (error == 0) return file;
  unlink(path.c_str());
  return fail(ErrorKind::cannot_write, format("cannot allocate {}: {}", path.string(), std::strerror(error)));
}

}  // namespace

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::create(const SegmentOptions& options) {
  RS_TRY(OwnFile file, create_file(options.path));
  // Whatever goes wrong below, no half-made segment stays behind.
  const auto give_up = [&options](Error error) {
    unlink(options.path.c_str());
    return tl::make_unexpected(std::move(error));
  };
  void* const page = mmap(nullptr, segment_header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.file(), 0);
  if (page == MAP_FAILED)
    return give_up({ErrorKind::cannot_write, format("cannot map {}: {}", options.path.string(), std::strerror(errno))});
  std::unique_ptr<SegmentWriter> segment{new SegmentWriter};
  segment->path_ = options.path;
  segment->clock_ = TickClock::detect();
  segment->header_ = new (page) SegmentHeader;
  fill_static(segment->header_->fixed, options, segment->clock_);
  segment->header_->static_crc = crc32c(&segment->header_->fixed, sizeof(SegmentStatic));
  const std::uint64_t burst = std::max(least_burst_bytes, std::uint64_t{options.ring_kib} * 1024);
  segment->chunks_ =
      std::make_unique<ChunkSpace>(options.path, std::move(file), burst, segment->header_->extents_refused);
  if (auto room = segment->chunks_->begin(); !room) return give_up(std::move(room).error());
  return segment;
}

SegmentWriter::SegmentWriter() = default;

SegmentWriter::~SegmentWriter() {
  chunks_.reset();  // it counts in the header
  if (header_ != nullptr) munmap(header_, segment_header_bytes);
}

void SegmentWriter::refill() {
  chunks_->take_back(*header_);
  chunks_->make_room();
  chunks_->seal_full_chunks();
}

void SegmentWriter::make_room() { chunks_->make_room(); }

void SegmentWriter::leave_to_parent() { chunks_->close_file(); }

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
