// Writes one segment file: events go from the program's threads straight into a shared file mapping, so that what has
// been pushed survives any death of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/recording/thread_writer.h"
#include "rankscope/core/result.h"

namespace rankscope::recording {

/// Who is recorded, and how much may wait for the disk.
struct SegmentOptions {
  std::filesystem::path path;
  std::uint32_t ring_kib = 4096;  ///< spare chunks kept ready for all threads together
  std::int32_t rank = -1;
  std::int32_t world_size = -1;
  std::int32_t local_rank = -1;
  std::int32_t local_world_size = -1;
  std::string rank_source;
  /// The process is another one, watched from outside; rank_source is watched_source then.
  std::int64_t watched_pid = 0;
  std::optional<ClockPair> begun{};  ///< what it recorded began then, before the segment was made
};

/// One segment file of this process.
class SegmentWriter {
 public:
  /// Creates the file (fails with cannot_write if it exists), fills its header and readies the spare chunks.
  [[nodiscard]] static Result<std::unique_ptr<SegmentWriter>> create(const SegmentOptions& options);
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;
  ~SegmentWriter();

  /// A pen for the calling thread; slow (allocates), once per thread.
  [[nodiscard]] std::unique_ptr<ThreadWriter> thread();
  /// Readies spare chunks, seals full ones and unmaps what is sealed: the program's memory does not grow with its
  /// recording. Call every 10 ms or so from one housekeeping thread.
  void refill();
  /// Notes how the process ends; events may still follow. Async-signal-safe.
  void note_exit(int status);
  /// Rank and world size learned after the start (from a communicator).
  void learn_rank(std::int32_t rank, std::int32_t world_size);
  [[nodiscard]] SegmentHeader& header() { return *header_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] TickClock clock() const { return clock_; }

 private:
  friend class ThreadWriter;
  SegmentWriter() = default;
  Result<void> add_extent();
  ChunkHeader* take_spare();
  void seal_full_chunks();
  void let_go(const ChunkHeader* sealed);

  std::filesystem::path path_;
  int file_ = -1;
  TickClock clock_;
  SegmentHeader* header_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  struct Extent {
    void* memory = nullptr;
    std::uint32_t unsealed = 0;  ///< chunks that somebody may still write to
  };
  std::vector<Extent> extents_;         // those that are mapped
  std::vector<ChunkHeader*> unsealed_;  // only refill() touches it
  std::vector<std::atomic<ChunkHeader*>> spares_;
  std::atomic<std::uint64_t> spare_head_{0};  // next to take
  std::atomic<std::uint64_t> spare_tail_{0};  // next to fill
  std::uint32_t wanted_spares_ = 0;
};

}  // namespace rankscope::recording
