#include "split/step_columns.h"

#include <algorithm>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::html {
namespace {

template <class Time>
std::int64_t mean_over(const RankRow& row, const StepColumn& column, Time time_of) {
  if (column.counted.empty()) return 0;
  std::int64_t sum = 0;
  for (const std::size_t place : column.counted) sum += time_of(row.per_step[place]);
  return sum / static_cast<std::int64_t>(column.counted.size());
}

/// Adds up, and divides when the column is full.
struct Filling {
  StepColumn column;
  std::int64_t counted_ns = 0;
  std::int64_t all_ns = 0;
  std::int64_t steps = 0;

  void add(const Step& step, std::size_t& next_place) {
    if (steps++ == 0) column.first = step.index;
    column.last = step.index;
    all_ns += step.wall_ns;
    if (step.complete && !step.warm_up) {
      counted_ns += step.wall_ns;
      column.counted.push_back(next_place++);
    } else {
      column.left_out = step.warm_up ? "warm-up" : "partial";
    }
  }
  StepColumn done() && {
    const auto counted = static_cast<std::int64_t>(column.counted.size());
    column.wall_ns = counted > 0 ? counted_ns / counted : all_ns / steps;
    if (counted > 0) column.left_out = {};
    return std::move(column);
  }
};

}  // namespace

std::string StepColumn::name() const {
  return first == last ? format("step {}", first) : format("steps {} to {}", first, last);
}

std::vector<StepColumn> step_columns(const StepsSection& steps) {
  const std::size_t each = std::max<std::size_t>(1, (steps.steps.size() + most_columns - 1) / most_columns);
  std::vector<StepColumn> columns;
  std::size_t next_place = 0;
  for (std::size_t begin = 0; begin < steps.steps.size(); begin += each) {
    Filling filling;
    for (std::size_t i = begin; i < std::min(begin + each, steps.steps.size()); ++i)
      filling.add(steps.steps[i], next_place);
    columns.push_back(std::move(filling).done());
  }
  return columns;
}

std::string note_on(const std::vector<StepColumn>& columns) {
  if (columns.empty() || columns.front().first == columns.front().last) return {};
  return format(" Each column is the mean of up to {} steps.", columns.front().last - columns.front().first + 1);
}

std::int64_t own_ns(const RankRow& row, const StepColumn& column) {
  return mean_over(row, column, [](const TimeSplit& split) { return split.own_ns(); });
}

std::int64_t window_ns(const RankRow& row, const StepColumn& column) {
  return mean_over(row, column, [](const TimeSplit& split) { return split.window_ns; });
}

}  // namespace rankscope::analyzer::html
