// Records of one segment -> rows of a RunBuilder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_builder.h"
#include "recording/decode/comm_decoder.h"
#include "recording/decode/device_decoder.h"
#include "recording/decode/full_part.h"
#include "recording/decode/unfinished.h"
#include "recording/format/segment_clock.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Attributes of what has no row in the Run yet.
using PendingAttributes = std::vector<std::pair<StringId, AttributeValue>>;

/// Puts starts, attributes and ends together. Threads are read one after the other, so that of a range which ends on
/// another thread the end may be met before the start.
class RangeDecoder {
 public:
  RangeDecoder(RunBuilder& builder, const SegmentClock& clock, std::uint32_t process)
      : builder_(builder), clock_(clock), process_(process) {}

  struct Range {
    SpanKind kind = SpanKind::user;
    StringId name;
    std::uint64_t ticks = 0;
  };
  void start(const Range& range, std::uint64_t handle);
  void end(std::uint64_t ticks, std::uint64_t handle);
  void attribute(std::uint64_t handle, StringId key, AttributeValue value) {
    attributes_[handle].emplace_back(key, value);
  }
  /// Whether starts may be missing on purpose, with the old events of a process.
  enum class Starts : std::uint8_t { all, some };
  /// Adds the rest; what is still open is drawn up to the last thing that the process is known to have done.
  void finish(std::uint64_t last_ticks, Starts starts);
  /// Number of spans that were added.
  [[nodiscard]] std::uint64_t added() const { return added_; }

 private:
  /// A range that is not added yet; `end` is set if it came before the start, whose attributes may still follow.
  struct Known {
    Range range;
    std::optional<std::uint64_t> end;
  };
  void add(const Range& range, std::uint64_t handle, std::uint64_t end, std::uint8_t flags);
  void close(const Known& known, std::uint64_t handle, std::uint64_t at_last);
  LaneId lane();

  RunBuilder& builder_;
  const SegmentClock& clock_;
  std::uint32_t process_;
  LaneId lane_;
  std::uint64_t added_ = 0;
  std::unordered_map<std::uint64_t, Known> known_;
  std::unordered_map<std::uint64_t, std::uint64_t> early_ends_;  // ticks of ends that came before their start
  std::unordered_map<std::uint64_t, PendingAttributes> attributes_;
};

/// Used once: reads all chunks of a segment.
class SegmentDecoder {
 public:
  /// Which rank the process is, and what is known of all processes.
  struct Whose {
    RankId rank;
    const Communicators& communicators;
    FullPart full{};
  };
  SegmentDecoder(RunBuilder& builder, const SegmentFile& segment, const SegmentClock& clock, const Whose& whose);
  /// Number of spans, marks and collectives that were added.
  std::uint64_t decode();

  /// Chunks that are missing in the middle of a thread's events.
  struct Gap {
    std::uint64_t chunks = 0;
    std::optional<TimeRange> time;  ///< in which their events lie; none: not known
  };
  [[nodiscard]] std::span<const Gap> gaps() const { return gaps_; }

 private:
  struct Thread;
  struct OpenSpan {
    std::uint32_t ticket = 0;
    std::uint64_t ticks = 0;  ///< of its begin
    bool is_left_out = false;
  };
  enum class AttributeOf : std::uint8_t { span, mark, range, comm };
  void decode_thread(std::size_t first_chunk, std::size_t last_chunk);
  void decode_chunk(Thread& thread, const Chunk& chunk);
  void push(Thread& thread, const Record& record);
  void decode_record(Thread& thread, const Record& record);
  void decode_string(Thread& thread, const Record& record);
  void add_attribute(Thread& thread, const Record& record, AttributeOf owner);
  void add_metadata(StringId key, StringId value);
  [[nodiscard]] bool was_switched_off() const;
  void note_total(Counter counter, std::string_view total);
  void note_gap(std::uint64_t chunks, const Chunk* before, const Chunk& after);
  void count_missing_chunks();
  [[nodiscard]] bool is_left_out(const Record& record);
  void leave_out(Thread& thread, const Record& record);
  void count_left_out(std::uint64_t ticks);
  void count_thinned();
  void add_step_sums();
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
  FullPart full_;
  Unfinished unfinished_;                    // only if something is left out
  std::uint64_t left_out_ = 0;               // events of the time before the full part
  std::uint64_t left_out_without_sums_ = 0;  // the same of steps without sums
  std::uint64_t added_ = 0;
  std::uint64_t last_ticks_ = 0;
  std::vector<Gap> gaps_;
  TickMap::Piece piece_;  // of the last time that was asked for; the next one mostly lies in it, too
  std::vector<OpenSpan> unclosed_;
};

}  // namespace rankscope::recording
