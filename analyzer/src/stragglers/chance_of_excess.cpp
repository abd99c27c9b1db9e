#include "stragglers/chance_of_excess.h"

#include <algorithm>
#include <cmath>

#include "math/statistics.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_scatter = 1;  // ns: runs written by hand have none at all

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

double chance_of_excess(const OwnTimes& times, std::size_t peer) {
  if (times.size() < 2 || times.front().size() < 2) return 1;
  const auto others = static_cast<double>(times.size() - 1);
  const std::size_t steps = times.front().size();
  std::vector<double> excess;
  double scatter = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<double> in_step;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (i != peer) in_step.push_back(static_cast<double>(times[i][step]));
    excess.push_back(static_cast<double>(times[peer][step]) - mean_of(in_step));
    scatter += squares_of(in_step);
  }
  // A rank minus the mean of the others scatters more than a rank does.
  const double widened = 1 + 1 / others;
  const auto degrees = static_cast<std::int64_t>((times.size() - 2) * steps + steps - 1);
  const double variance = (scatter + squares_of(excess) / widened) / static_cast<double>(degrees);
  const double error = std::max(least_scatter, std::sqrt(variance * widened / static_cast<double>(steps)));
  const double mean = mean_of(excess);
  return mean > 0 ? student_tail(mean / error, degrees) : 1;
}

}  // namespace rankscope::analyzer
