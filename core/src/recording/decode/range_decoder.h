// Ranges that start and end anywhere in a process -> spans of a row of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_builder.h"
#include "recording/format/segment_clock.h"

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
  /// Adds the rest; what is still open is drawn up to the last thing that the process is known to have done.
  void finish(std::uint64_t last_ticks);
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

}  // namespace rankscope::recording
