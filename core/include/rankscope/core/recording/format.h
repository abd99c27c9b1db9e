// Byte layout of a segment file, as described in core/src/recording/FORMAT.md. Little-endian, 8-byte aligned.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rankscope/core/recording/records.h"

namespace rankscope::recording {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

inline constexpr std::array<char, 8> segment_magic{'R', 'S', 'S', 'E', 'G', 'M', 'T', '\n'};
inline constexpr std::uint16_t format_major = 1;  ///< a reader refuses a newer major version
inline constexpr std::uint16_t format_minor = 5;  ///< a reader accepts any minor version and skips unknown records
inline constexpr std::uint32_t segment_header_bytes = 4096;
inline constexpr std::uint32_t chunk_magic = 0x4B435352;  // "RSCK"
inline constexpr std::uint32_t chunk_header_bytes = 64;
inline constexpr std::uint32_t chunk_bytes = 64 * 1024;   ///< of a live segment, header included
inline constexpr std::uint32_t free_thread = 0xFFFFFFFF;  ///< ChunkHeader::thread of a chunk nobody has taken
inline constexpr std::uint32_t sums_thread = 0xFFFFFFFE;  ///< of chunks that replace thinned ones (1.5)
inline constexpr std::size_t most_handed_back = 256;      ///< runs of chunks that wait for their reuse

/// What the ticks of a segment count.
enum class ClockSource : std::uint32_t { monotonic_ns = 0, tsc = 1 };

/// One moment read on all clocks; ticks are of SegmentStatic::clock.
struct ClockPair {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
};

/// Written once, before the first event; covered by SegmentHeader::static_crc.
struct SegmentStatic {
  std::array<char, 8> magic = segment_magic;
  std::uint16_t major = format_major;
  std::uint16_t minor = format_minor;
  std::uint32_t header_bytes = segment_header_bytes;
  ClockSource clock = ClockSource::monotonic_ns;
  std::uint32_t sealed = 0;  ///< 1: gathered, and SegmentHeader::page_crc covers the page (1.4)
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::uint64_t start_ticks_of_boot =
      0;                   ///< field 22 of /proc/PID/stat; with pid and boot id it names a process for ever
  std::int32_t rank = -1;  ///< -1 = not known when the segment was opened
  std::int32_t world_size = -1;
  std::int32_t local_rank = -1;
  std::int32_t local_world_size = -1;
  std::array<char, 40> boot_id{};
  std::array<char, 64> host{};
  std::array<char, 64> program{};
  std::array<char, 32> rank_source{};  ///< variable that told the rank, e.g. "RANK"
  double ticks_per_ns = 1;             ///< measured briefly at start; used only where a single ClockPair is left
  ClockPair first_pair;
};
static_assert(std::is_trivially_copyable_v<SegmentStatic>);

/// What SegmentHeader::end says: a killed process leaves `running` behind for ever.
enum class ProcessEnd : std::uint32_t { running = 0, exited = 1 };

/// First page of a segment. The atomics change while the process runs and survive its death with the page cache.
struct SegmentHeader {
  SegmentStatic fixed;
  std::uint32_t static_crc = 0;
  std::uint32_t packed_chunks = 0;             ///< chunks of a gathered segment; 0 = live, may still grow
  std::atomic<std::uint64_t> events_dropped;   ///< no spare chunk was ready
  std::atomic<std::uint64_t> extents_refused;  ///< the file could not grow (disk full, limit)
  std::atomic<std::uint64_t> names_truncated;
  std::atomic<std::uint64_t> forks;  ///< children that were forked while recording
  std::atomic<std::uint32_t> end;    ///< ProcessEnd
  std::atomic<std::int32_t> exit_status;
  std::atomic<std::uint64_t> end_ticks;
  std::atomic<std::uint32_t> threads;
  std::atomic<std::int32_t> late_rank;  ///< rank + 1 learned from a communicator, 0 = none
  std::atomic<std::int32_t> late_world_size;
  std::uint32_t page_crc = 0;  ///< CRC-32C of all other bytes of the page, if it is sealed
  // A ring of runs of chunks whose events were thinned out (1.5): the recorder writes `handed_back`, the process writes
  // `taken_back`. All 0 in a gathered segment.
  std::atomic<std::uint64_t> handed_back;  ///< runs handed back so far
  std::atomic<std::uint64_t> taken_back;   ///< of these, runs that the process has taken to write to them again
  std::array<std::atomic<std::uint64_t>, most_handed_back> runs;  ///< as packed_run() packs them
};
static_assert(sizeof(SegmentHeader) <= segment_header_bytes);

/// A run of chunks: the pages of the file from `begin` on.
struct PageRun {
  std::uint64_t begin = 0;  ///< in bytes, a multiple of run_page_bytes
  std::uint64_t bytes = 0;  ///< the same
  bool operator==(const PageRun&) const = default;
};
inline constexpr std::uint64_t run_page_bytes = 4096;
inline constexpr unsigned run_page_bits = 24;  ///< of the length: a run has less than 64 GiB
[[nodiscard]] constexpr std::uint64_t packed_run(const PageRun& run) {
  return run.begin / run_page_bytes << run_page_bits | run.bytes / run_page_bytes;
}
[[nodiscard]] constexpr PageRun unpacked_run(std::uint64_t run) {
  return {(run >> run_page_bits) * run_page_bytes, (run & ((1ULL << run_page_bits) - 1)) * run_page_bytes};
}

/// Only a sealed chunk has a checksum; in a full one the number of committed bytes does not change any more.
enum class ChunkState : std::uint32_t { open = 0, full = 1, sealed = 2 };

/// First 64 bytes of a chunk; `capacity` payload bytes follow. The chunks of a file stand one behind the other.
struct ChunkHeader {
  std::uint32_t magic;
  std::uint32_t capacity;                ///< payload bytes up to the next chunk header; a multiple of 8
  std::uint32_t thread;                  ///< n-th thread of the process that recorded, or free_thread
  std::uint32_t sequence;                ///< n-th chunk of that thread
  std::int64_t os_thread;                ///< gettid()
  std::atomic<std::uint32_t> committed;  ///< payload bytes that hold whole records; release-stored after each record
  std::atomic<std::uint32_t> state;      ///< ChunkState
  std::uint32_t payload_crc;             ///< CRC-32C of the committed payload, valid when sealed
  std::uint32_t header_crc;              ///< CRC-32C of the first 24 bytes and `committed`, valid when sealed
  std::array<std::uint8_t, 24> reserved;
};
static_assert(sizeof(ChunkHeader) == chunk_header_bytes);

inline constexpr std::size_t longest_string = 4000;

/// SegmentStatic::rank_source of a process that was only watched from outside: samples, no events, no ending of its
/// own.
inline constexpr const char* watched_source = "outside";

}  // namespace rankscope::recording
