// Writes one segment file: events go from the program's threads straight into a shared file mapping, so that what has
// been pushed survives any death of the process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "rankscope/core/recording/thread_writer.h"
#include "rankscope/core/result.h"

namespace rankscope::recording {

class ChunkSpace;

/// Who is recorded, and how much may wait for the disk.
struct SegmentOptions {
  std::filesystem::path path;
  std::uint32_t ring_kib = 4096;  ///< what all threads together may write between two calls of refill()
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
  /// Creates the file (fails with cannot_write if it exists), fills its header and readies room for the first chunks.
  [[nodiscard]] static Result<std::unique_ptr<SegmentWriter>> create(const SegmentOptions& options);
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;
  ~SegmentWriter();

  /// A pen for the calling thread; slow (allocates), once per thread.
  [[nodiscard]] std::unique_ptr<ThreadWriter> thread();
  /// Readies room, seals full chunks and unmaps what is sealed: the program's memory does not grow with its recording.
  /// Call every 10 ms or so, from one thread at a time.
  void refill();
  /// The first half of it, for threads that have no time for the rest.
  void make_room();
  /// Notes how the process ends; events may still follow. Async-signal-safe.
  void note_exit(int status);
  /// Rank and world size learned after the start (from a communicator).
  void learn_rank(std::int32_t rank, std::int32_t world_size);
  [[nodiscard]] SegmentHeader& header() { return *header_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] TickClock clock() const { return clock_; }

  /// In the child of a fork, which leaves the file to its parent: closes the child's descriptor of it. Nothing else of
  /// this object may be used there, nor may it be destroyed.
  void leave_to_parent();

 private:
  friend class ThreadWriter;
  SegmentWriter();

  std::filesystem::path path_;
  TickClock clock_;
  SegmentHeader* header_ = nullptr;
  std::unique_ptr<ChunkSpace> chunks_;
};

}  // namespace rankscope::recording
