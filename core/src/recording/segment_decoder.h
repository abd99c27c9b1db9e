// Records of one segment -> rows of a RunBuilder.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "range_decoder.h"
#include "rankscope/core/model/run_builder.h"
#include "segment_clock.h"
#include "segment_file.h"

namespace rankscope::recording {

/// Used once: reads all chunks of a segment.
class SegmentDecoder {
 public:
  SegmentDecoder(RunBuilder& builder, const SegmentFile& segment, const SegmentClock& clock, RankId rank);
  /// Number of spans, marks and collectives that were added.
  std::uint64_t decode();

 private:
  struct Thread;
  struct OpenSpan {
    std::uint32_t ticket = 0;
    std::uint64_t ticks = 0;  ///< of its begin
  };
  /// Enqueued on one thread, executed on another: put together when all threads have been read.
  struct OpenCollective {
    bool is_enqueued = false, is_started = false, is_finished = false;
    CommEnqueued enqueued{};
    StringId op, dtype;
    GroupId group;
    LaneId enqueued_on, lane;
    std::uint64_t started = 0, finished = 0;
  };

  void decode_thread(std::size_t first_chunk, std::size_t last_chunk);
  void decode_chunk(Thread& thread, const Chunk& chunk);
  void decode_record(Thread& thread, const Record& record);
  void decode_string(Thread& thread, const Record& record);
  void add_attribute(Thread& thread, const Record& record);
  void add_metadata(StringId key, StringId value);
  [[nodiscard]] bool was_switched_off() const;
  void note_total(Counter counter, std::string_view total);
  void pop(Thread& thread, std::uint64_t ticks);
  RunTime run_time(std::uint64_t ticks);
  void close_all(Thread& thread, std::uint64_t ticks);
  void enqueued(const Thread& thread, const Record& record);
  GroupId group_of(StringId name, StringId members);
  void started(const Thread& thread, const Record& record);
  void finished(const Record& record);
  void finish_spans();
  void finish_collectives();
  void add_collective(const OpenCollective& open);
  void saw(std::uint64_t ticks);

  std::map<Counter, std::uint64_t> totals_;  // of metadata that is named like a counter
  RunBuilder& builder_;
  const SegmentFile& segment_;
  const SegmentClock& clock_;
  RankId rank_;
  std::uint32_t process_ = 0;
  RangeDecoder ranges_;
  std::uint64_t added_ = 0;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t missing_chunks_ = 0;
  TickMap::Piece piece_;  // of the last time that was asked for; the next one mostly lies in it, too
  std::map<std::uint64_t, OpenCollective> collectives_;      // by uid
  std::map<std::pair<StringId, StringId>, GroupId> groups_;  // by name and members
  std::vector<OpenSpan> unclosed_;
};

}  // namespace rankscope::recording
