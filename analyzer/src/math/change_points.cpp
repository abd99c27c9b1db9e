#include "math/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "math/statistics.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t least_segment = 5;
constexpr double penalty_factor = 3;
constexpr double same_level = 0.03;
constexpr double least_change = 0.05;
constexpr std::size_t look_back = 20;
constexpr std::size_t look_ahead = 10;
constexpr double least_deviation = 0.001;  // durations that are equal to the nanosecond still have noise
constexpr std::size_t most_points = 2000;  // without changes PELT takes the square of it

/// A logarithm in 1e-9, so that the integer statistics serve.
constexpr double per_log = 1e9;

std::vector<std::int64_t> logarithms(std::span<const std::int64_t> values, std::size_t block) {
  std::vector<std::int64_t> logs;
  for (std::size_t i = 0; i + block <= values.size(); i += block) {
    const auto middle = static_cast<double>(std::max<std::int64_t>(1, median(values.subspan(i, block))));
    logs.push_back(std::llround(std::log(middle) * per_log));
  }
  return logs;
}

double variance_of(std::span<const std::int64_t> logs) {
  std::vector<std::int64_t> differences;
  for (std::size_t i = 1; i < logs.size(); ++i) differences.push_back(logs[i] - logs[i - 1]);
  const double deviation = std::max(least_deviation, robust_sigma(differences) / per_log / std::numbers::sqrt2);
  return deviation * deviation;
}

/// Sums from the begin on, so that the cost of a segment is a difference.
class Costs {
 public:
  explicit Costs(std::span<const std::int64_t> logs) : variance_(variance_of(logs)) {
    for (const std::int64_t value : logs) {
      const double x = static_cast<double>(value - logs.front()) / per_log;
      sums_.push_back(sums_.back() + x);
      squares_.push_back(squares_.back() + x * x);
    }
  }
  /// Squared distances from the mean in [begin, end), in units of the variance.
  [[nodiscard]] double of(std::size_t begin, std::size_t end) const {
    const double sum = sums_[end] - sums_[begin];
    return (squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin)) / variance_;
  }

 private:
  double variance_;
  std::vector<double> sums_{0};
  std::vector<double> squares_{0};
};

/// Begins of all segments but the first.
std::vector<std::size_t> cheapest_segments(std::span<const std::int64_t> logs) {
  const std::size_t n = logs.size();
  const Costs costs{logs};
  const double penalty = penalty_factor * std::log(static_cast<double>(n));
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last(n + 1, 0);
  best[0] = -penalty;
  std::vector<std::size_t> candidates{0};
  for (std::size_t end = least_segment; end <= n; ++end) {
    for (const std::size_t begin : candidates) {
      const double cost = best[begin] + costs.of(begin, end) + penalty;
      if (cost < best[end]) best[end] = cost, last[end] = begin;
    }
    std::erase_if(candidates, [&](std::size_t begin) { return best[begin] + costs.of(begin, end) > best[end]; });
    if (const std::size_t next = end + 1 - least_segment; next >= least_segment) candidates.push_back(next);
  }
  std::vector<std::size_t> begins;
  for (std::size_t at = last[n]; at > 0; at = last[at]) begins.push_back(at);
  std::ranges::reverse(begins);
  return begins;
}

double median_of(std::span<const std::int64_t> logs, std::size_t begin, std::size_t end) {
  return static_cast<double>(median(logs.subspan(begin, end - begin))) / per_log;
}

/// How far the levels on both sides of begins[i] are apart, as a share.
double step_at(std::span<const std::int64_t> logs, std::span<const std::size_t> begins, std::size_t i,
               std::size_t back = std::numeric_limits<std::size_t>::max(),
               std::size_t ahead = std::numeric_limits<std::size_t>::max()) {
  const std::size_t from = i == 0 ? 0 : begins[i - 1];
  const std::size_t at = begins[i];
  const std::size_t to = i + 1 < begins.size() ? begins[i + 1] : logs.size();
  const double before = median_of(logs, at - std::min(back, at - from), at);
  const double after = median_of(logs, at, at + std::min(ahead, to - at));
  return std::abs(std::expm1(after - before));
}

/// Takes out the smallest step until all that remain are large enough.
void merge(std::span<const std::int64_t> logs, std::vector<std::size_t>& begins, double least, std::size_t back,
           std::size_t ahead) {
  while (!begins.empty()) {
    std::size_t smallest = 0;
    for (std::size_t i = 1; i < begins.size(); ++i)
      if (step_at(logs, begins, i, back, ahead) < step_at(logs, begins, smallest, back, ahead)) smallest = i;
    if (step_at(logs, begins, smallest, back, ahead) >= least) return;
    begins.erase(begins.begin() + static_cast<std::ptrdiff_t>(smallest));
  }
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const std::int64_t> values) {
  if (values.size() < least_for_changes) return {};
  const std::size_t block = (values.size() + most_points - 1) / most_points;
  const std::vector<std::int64_t> logs = logarithms(values, block);
  std::vector<std::size_t> begins = cheapest_segments(logs);
  constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();
  merge(logs, begins, same_level, whole, whole);
  merge(logs, begins, least_change, look_back, look_ahead);
  for (std::size_t& begin : begins) begin *= block;
  return begins;
}

}  // namespace rankscope::analyzer
