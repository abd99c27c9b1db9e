// Sums over the nested ranges of host threads: one table of operators or of annotations.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "math/key_numbers.h"
#include "rankscope/analyzer/operators/section.h"
#include "steps/window_time.h"

namespace rankscope::analyzer {

/// Which ranges make a table.
enum class RangeKind : std::uint8_t { operators, annotations };

/// Time of an accelerator that a call of the host has caused.
struct LaunchedTime {
  SpanId from;
  std::int64_t exclusive_ns = 0;
};

/// A range with its inputs, where they were recorded.
struct RangeKey {
  StringId name{};
  StringId shapes{};
  auto operator<=>(const RangeKey&) const = default;
};

/// Hears of each range, and of each stretch of host time in which it was the innermost one.
struct RangeWatch {
  std::function<void(const RangeKey& key, TimeRange range)> called;
  std::function<void(const RangeKey& key, TimeRange stretch)> spent;
};

/// Walks threads and charges each instant of the host, and each launch, to the innermost range.
class RangeWalk {
 public:
  RangeWalk(const Run& run, RangeKind kind);
  /// The same walk for somebody who wants to know when.
  RangeWalk(const Run& run, RangeKind kind, RangeWatch watch);

  /// `launches` are those of the whole process, by `from`.
  void over(const Lane& lane, const WindowTime& windows, std::span<const LaunchedTime> launches);
  void add_unlaunched(std::int64_t exclusive_ns);
  [[nodiscard]] OperatorTable finish() &&;

 private:
  struct Row {
    OperatorTimes times;
    BackwardTimes backward;
    std::uint32_t open = 0;  // calls of this name under way
  };
  struct Variant {
    std::int64_t calls = 0;
    std::int64_t self_ns = 0;
    std::int64_t device_ns = 0;
  };
  struct Open {
    TimeRange time;
    StringId name{};
    std::size_t variant = 0;
    StringId forward{};  // operator of which this is the backward one
    std::int64_t device_total_ns = 0;
  };

  [[nodiscard]] bool is_range(const Span& span);
  [[nodiscard]] StringId shapes_of(SpanId span) const;
  [[nodiscard]] StringId forward_of(SpanId span) const;
  void open(const Span& span, const WindowTime& windows);
  void close_until(RunTime time, const WindowTime& windows);
  void close_last(const WindowTime& windows);
  void spend_until(RunTime time, const WindowTime& windows);
  void charge(std::int64_t exclusive_ns);
  std::vector<std::vector<ShapeRow>> shapes_by_name();

  const Run& run_;
  RangeKind kind_;
  RangeWatch watch_;
  StringId input_dims_;
  StringId own_input_dims_;
  bool any_forward_link_ = false;
  std::vector<std::uint8_t> is_annotation_;  // by name: 0 = no, 1 = yes, 2 = not looked up
  std::vector<Row> rows_;                    // by name
  KeyNumbers<RangeKey> keys_;
  std::vector<Variant> variants_;  // by key
  std::vector<Open> open_;         // innermost last
  RunTime now_ = RunTime::min();
  OperatorTable table_;
};

}  // namespace rankscope::analyzer
