// Records of one segment -> rows of a RunBuilder.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_builder.h"
#include "recording/decode/comm_decoder.h"
#include "recording/decode/device_decoder.h"
#include "recording/decode/range_decoder.h"
#include "recording/format/segment_clock.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Used once: reads all chunks of a segment.
class SegmentDecoder {
 public:
  /// Which rank the process is, and what is known of all processes.
  struct Whose {
    RankId rank;
    const Communicators& communicators;
  };
  SegmentDecoder(RunBuilder& builder, const SegmentFile& segment, const SegmentClock& clock, const Whose& whose);
  /// Number of spans, marks and collectives that were added.
  std::uint64_t decode();

 private:
  struct Thread;
  struct OpenSpan {
    std::uint32_t ticket = 0;
    std::uint64_t ticks = 0;  ///< of its begin
  };
  void decode_thread(std::size_t first_chunk, std::size_t last_chunk);
  void decode_chunk(Thread& thread, const Chunk& chunk);
  void push(Thread& thread, const Record& record);
  void decode_record(Thread& thread, const Record& record);
  void decode_string(Thread& thread, const Record& record);
  void add_attribute(Thread& thread, const Record& record);
  void add_metadata(StringId key, StringId value);
  [[nodiscard]] bool was_switched_off() const;
  void note_total(Counter counter, std::string_view total);
  void pop(Thread& thread, std::uint64_t ticks);
  RunTime run_time(std::uint64_t ticks);
  void close_all(Thread& thread, std::uint64_t ticks);
  void finish_spans();
  void saw(std::uint64_t ticks);

  std::map<Counter, std::uint64_t> totals_;  // of metadata that is named like a counter
  RunBuilder& builder_;
  const SegmentFile& segment_;
  const SegmentClock& clock_;
  std::uint32_t process_ = 0;
  RangeDecoder ranges_;
  DeviceDecoder devices_;
  CommDecoder comm_;
  std::uint64_t added_ = 0;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t missing_chunks_ = 0;
  TickMap::Piece piece_;  // of the last time that was asked for; the next one mostly lies in it, too
  std::vector<OpenSpan> unclosed_;
};

}  // namespace rankscope::recording
