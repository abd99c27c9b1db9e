#include "alignment/edge_estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::clocks {
namespace {

constexpr std::int64_t least_span_for_drift_ns = 1'000'000'000;
constexpr double most_drift = 200e-6;
constexpr double unmeasured_drift = 100e-6;  // two quartz clocks of +-50 ppm
constexpr double of_median = 1.2533;         // sigma of a median by sigma of a mean, for normal values
constexpr double sigma_by_mad = 1.4826;
constexpr double outlier_mads = 5;
constexpr double most_outliers = 0.2;
constexpr double low_quality_ns = 200'000;
constexpr std::size_t most_stretches = 8;
constexpr std::size_t least_in_stretch = 10;

/// A point of the line: how far b is ahead of a (less a constant) when a shows a time (less a constant).
struct Point {
  double x = 0;
  double d = 0;
};

template <class Value>
double median_over(std::span<const Point> points, Value value) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) values.push_back(value(point));
  return median(std::move(values));
}

struct Slope {
  double rate = 0;
  double sigma = 0;
};

/// Median of the slopes of pairs half the points apart (paired Theil-Sen), and its sigma by how much these differ.
Slope paired_slope(std::span<const Point> points) {
  const std::size_t half = points.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < points.size() && i < half; ++i)
    if (points[i + half].x > points[i].x)
      slopes.push_back((points[i + half].d - points[i].d) / (points[i + half].x - points[i].x));
  if (slopes.empty()) return {};
  const double rate = median(slopes);
  const auto count = static_cast<double>(slopes.size());
  for (double& slope : slopes) slope = std::abs(slope - rate);
  return {rate, of_median * sigma_by_mad * median(std::move(slopes)) / std::sqrt(count)};
}

/// Points around a line d = ahead + rate * x.
struct Line {
  double ahead = 0;
  double rate = 0;
  [[nodiscard]] double beside(const Point& point) const { return point.d - ahead - rate * point.x; }
};

struct Fit {
  Line line;
  double rate_sigma = 0;
  double mad = 0;
  double refused_rate = 0;  // 0: none was
  bool rate_known = false;
};

Fit fit(std::span<const Point> points, bool with_drift) {
  Fit result;
  if (with_drift) {
    const Slope slope = paired_slope(points);
    result.rate_sigma = slope.sigma;
    result.rate_known = std::abs(slope.rate) <= most_drift;
    (result.rate_known ? result.line.rate : result.refused_rate) = slope.rate;
  }
  result.line.ahead = median_over(points, [&](const Point& point) { return point.d - result.line.rate * point.x; });
  result.mad = median_over(points, [&](const Point& point) { return std::abs(result.line.beside(point)); });
  return result;
}

/// Three sigma of a median without any assumption on how the values lie: by their order.
double order_error(std::vector<double> beside) {
  std::ranges::sort(beside);
  const auto count = static_cast<double>(beside.size());
  const double reach = 1.5 * std::sqrt(count);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(count / 2 - reach)));
  const auto high = std::min(beside.size() - 1, static_cast<std::size_t>(std::ceil(count / 2 + reach)));
  return std::max(std::abs(beside[low]), std::abs(beside[high]));
}

/// The farthest that the middle of a stretch of time lies beside the line.
double wander_of(std::span<const double> beside) {
  const std::size_t stretches = std::clamp<std::size_t>(beside.size() / least_in_stretch, 1, most_stretches);
  double farthest = 0;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = beside.size() * i / stretches;
    const std::size_t end = beside.size() * (i + 1) / stretches;
    farthest = std::max(farthest, std::abs(median({beside.begin() + static_cast<std::ptrdiff_t>(begin),
                                                   beside.begin() + static_cast<std::ptrdiff_t>(end)})));
  }
  return farthest;
}

double quantile_95(std::vector<double> values) {
  const auto place = static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + place);
  return values[static_cast<std::size_t>(place)];
}

void add_doubt(std::string& doubt, const std::string& more) { doubt.append(doubt.empty() ? "" : "; ").append(more); }

std::vector<Point> points_of(std::span<const Shared> operations, std::int64_t middle, std::int64_t ahead) {
  std::vector<Point> points;
  points.reserve(operations.size());
  for (const Shared& operation : operations)
    points.push_back({static_cast<double>(operation.end_a - middle),
                      static_cast<double>(operation.end_b - operation.end_a - ahead)});
  return points;
}

/// What the line leaves, and what that says about its quality.
void judge(const Fit& fit, std::span<const Point> points, std::size_t outliers, EdgeEstimate& result) {
  std::vector<double> beside;
  std::vector<double> distance;
  beside.reserve(points.size());
  for (const Point& point : points) {
    beside.push_back(fit.line.beside(point));
    distance.push_back(std::abs(beside.back()));
  }
  const auto count = static_cast<double>(points.size());
  result.sigma_ns = sigma_by_mad * fit.mad;
  result.ahead_error_ns = std::max(3 * of_median * result.sigma_ns / std::sqrt(count), order_error(beside));
  result.wander_ns = wander_of(beside);
  if (static_cast<double>(outliers) > most_outliers * count) {
    result.wander_ns = std::max(result.wander_ns, quantile_95(std::move(distance)));
    add_doubt(result.doubt,
              format("for {:.0f} % of the operations, the measured offset differs greatly from that of the others",
                     100 * static_cast<double>(outliers) / count));
  }
  if (fit.refused_rate != 0)
    add_doubt(result.doubt,
              format("the measured drift of {:.0f} ppm is not plausible and was not used", 1e6 * fit.refused_rate));
  if (result.sigma_ns > low_quality_ns)
    add_doubt(result.doubt,
              format("the offsets measured in single operations scatter by {:.0f} µs", result.sigma_ns / 1000));
  if (result.wander_ns > low_quality_ns)
    add_doubt(result.doubt,
              format("the offset departs from a steady drift by up to {:.0f} µs", result.wander_ns / 1000));
}

}  // namespace

double EdgeEstimate::error_ns(std::int64_t begin, std::int64_t end) const {
  const auto half = static_cast<double>(half_span_ns);
  const double before = static_cast<double>(middle_ns) - static_cast<double>(begin) - half;
  const double after = static_cast<double>(end) - static_cast<double>(middle_ns) - half;
  const double outside = std::max({0.0, before, after});
  return ahead_error_ns + std::max(wander_ns, rate_error * half) + rate_error * outside;
}

EdgeEstimate estimate(std::span<const Shared> operations) {
  EdgeEstimate result;
  result.operations = operations.size();
  const std::int64_t span = operations.back().end_a - operations.front().end_a;
  result.half_span_ns = span / 2;
  result.middle_ns = operations.front().end_a + span / 2;
  std::vector<std::int64_t> differences;
  for (const Shared& operation : operations) differences.push_back(operation.end_b - operation.end_a);
  result.ahead_ns = median(differences);

  const std::vector<Point> points = points_of(operations, result.middle_ns, result.ahead_ns);
  const bool with_drift = span >= least_span_for_drift_ns;
  Fit line = fit(points, with_drift);
  std::vector<Point> kept = points;
  const double limit = outlier_mads * std::max(line.mad, 1.0);
  std::erase_if(kept, [&](const Point& point) { return std::abs(line.line.beside(point)) > limit; });
  if (kept.size() >= least_operations / 2) line = fit(kept, with_drift);
  result.ahead_fine_ns = line.line.ahead;
  result.rate = line.line.rate;
  result.rate_known = line.rate_known;
  result.rate_error = line.rate_known            ? 3 * line.rate_sigma
                      : line.refused_rate != 0.0 ? std::abs(line.refused_rate)
                                                 : unmeasured_drift;
  judge(line, points, points.size() - kept.size(), result);
  return result;
}

}  // namespace rankscope::analyzer::clocks
