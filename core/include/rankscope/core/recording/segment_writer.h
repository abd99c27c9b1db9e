// Writes one segment file: events go from the program's threads straight into a shared file mapping, so that what has
// been pushed survives any death of the process. The hot path takes no lock, makes no system call and allocates
// nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/span.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/recording/tick_clock.h"
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
  std::int64_t watched_pid =
      0;  ///< the process is another one, watched from outside; rank_source is watched_source then
};

class SegmentWriter;

/// Whom an attribute describes.
struct Owner {
  enum class Kind : std::uint8_t {
    span,   ///< the innermost open span of the thread
    mark,   ///< the latest mark of the thread
    range,  ///< the range of that handle, started by any thread
  };
  Kind kind = Kind::span;
  std::uint64_t handle = 0;

  static constexpr Owner latest_mark() { return {Kind::mark, 0}; }
  static constexpr Owner range(std::uint64_t handle) { return {Kind::range, handle}; }
};

/// The pen of one thread; only that thread may use it. Every call stores the event or counts it as dropped.
class ThreadWriter {
 public:
  ThreadWriter(SegmentWriter& segment, std::uint32_t ordinal);
  ThreadWriter(const ThreadWriter&) = delete;
  ThreadWriter& operator=(const ThreadWriter&) = delete;
  ~ThreadWriter();

  void push(SpanKind kind, std::string_view name);
  void pop();
  /// False: the start was dropped; its end and its attributes have to be left out.
  bool range_start(SpanKind kind, std::string_view name, std::uint64_t handle);
  void range_end(std::uint64_t handle);
  void mark(std::string_view name);
  /// Of a span or mark that was dropped: dropped, too.
  void attribute(std::string_view key, std::int64_t value, Owner owner = {});
  void attribute(std::string_view key, std::string_view value, Owner owner = {});
  /// JSON in its own words, of the innermost open span.
  void attribute_json(std::string_view key, std::string_view json);
  void counter(std::string_view name, double value);
  struct Collective {
    std::uint64_t uid = 0;
    std::int64_t sequence = -1;
    std::int64_t bytes = -1;
    std::string_view group;
    std::string_view op;
    std::string_view dtype;
    std::string_view members;  ///< "0,1,2"
    std::int32_t peer = -1;
  };
  void comm_enqueued(const Collective& collective);
  void comm_started(std::uint64_t uid);
  void comm_finished(std::uint64_t uid);
  void thread_name(std::string_view name);
  void metadata(std::string_view key, std::string_view value);
  void clock_pair();
  /// Spans pushed and not yet popped on this thread (dropped ones included).
  [[nodiscard]] std::uint32_t depth() const { return depth_ + dropped_depth_; }

 private:
  struct Name;
  std::uint8_t* reserve(std::uint32_t bytes, std::uint32_t keep_free);
  void commit(std::uint32_t bytes) {
    used_ += bytes;
    chunk_->committed.store(used_, std::memory_order_release);
  }
  bool next_chunk();
  void push_slowly(SpanKind kind, std::string_view name, std::uint64_t ticks);
  [[nodiscard]] std::uint32_t known_id(std::string_view text) const;
  std::uint32_t intern(std::string_view text, std::uint32_t keep_free);
  Name* slot_of(std::uint64_t hash, std::string_view text);
  void grow();
  void drop(std::uint64_t events = 1);
  [[nodiscard]] bool owner_was_dropped(Owner owner) const;
  void two_names(RecordType type, std::uint8_t code, std::string_view key, std::string_view value, std::uint64_t handle,
                 std::uint32_t words);
  bool plain(RecordType type, std::uint8_t code, std::string_view name, std::uint64_t a, std::uint64_t b,
             std::uint32_t words);

  static constexpr std::uint32_t no_name = 0xFFFFFFFF;
  SegmentWriter& segment_;
  TickClock clock_;
  ChunkHeader* chunk_ = nullptr;
  std::uint32_t used_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t ordinal_;
  std::uint32_t sequence_ = 0;
  std::uint32_t next_name_ = 0;  // ids are per chunk, so that each chunk can be read alone
  std::uint32_t depth_ = 0;
  std::uint32_t dropped_depth_ = 0;  // pushes that were dropped: their pops are dropped, too
  bool mark_dropped_ = false;        // the latest one
  std::unique_ptr<Name[]> names_;
  std::uint32_t name_mask_ = 0;
  std::uint32_t name_count_ = 0;
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
