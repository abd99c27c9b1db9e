// A quantity over time as a step function: its peak, its peaks by step, its thinned points.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "memory/series.h"
#include "rankscope/analyzer/memory/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// The highest value of one step.
struct StepPeak {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
};

/// From peaks of the counted steps, ascending. `left_bytes`: until the device is full.
[[nodiscard]] MemoryGrowth growth_of(std::span<const StepPeak> peaks, std::optional<std::int64_t> left_bytes,
                                     std::string_view why_none_left);

/// Whether a value holds until the next one: it does where every change was recorded, not between samples.
enum class Between : std::uint8_t { held, unknown };

/// Values of one series, ascending in time; `event` is the row they came from.
class MemoryCurve {
 public:
  struct Value {
    RunTime time{};
    std::int64_t bytes = 0;
    std::size_t event = 0;
  };

  /// `part`: what lies outside is left out; a held value is carried to its begin.
  MemoryCurve(std::vector<Value> values, Between between, std::optional<TimeRange> part);

  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::span<const Value> values() const { return values_; }
  /// The first of the highest values. There must be one.
  [[nodiscard]] const Value& highest() const;
  [[nodiscard]] std::vector<StepPeak> by_step(const StepsSection& steps, RankId rank) const;
  /// All changes, or where there are more than three times `buckets` of equally long buckets in time the first lowest,
  /// the first highest and the last of each.
  [[nodiscard]] std::vector<MemoryPoint> points(std::size_t buckets) const;

 private:
  std::vector<Value> values_;
  Between between_;
};

/// One of the totals of a series; events in which it is unknown are left out.
[[nodiscard]] MemoryCurve curve_of(const MemorySeries& series, std::int64_t MemoryEvent::*total,
                                   std::optional<TimeRange> part);

}  // namespace rankscope::analyzer
