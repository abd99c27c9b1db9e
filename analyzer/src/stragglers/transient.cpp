#include "stragglers/transient.h"

#include <algorithm>

#include "math/statistics.h"
#include "stragglers/own_time_windows.h"

namespace rankscope::analyzer {
namespace {

// metrics.md 9.4.
constexpr double stall_sigmas = 3.5;
constexpr double stall_share = 0.10;
constexpr double most_of_steps = 0.20;
constexpr double least_of_wall = 0.02;
constexpr std::int64_t beyond_peers = 3;
constexpr std::size_t least_stalls = 2;

/// excess[peer][step]: own time beyond the rank's own median, less what the step cost the other ranks too.
OwnTimes excesses(const OwnTimes& times) {
  OwnTimes distances = times;
  for (auto& own : distances) {
    const std::int64_t usual = median(own);
    for (std::int64_t& value : own) value -= usual;
  }
  OwnTimes excess = distances;
  std::vector<std::int64_t> in_step(times.size());
  for (std::size_t step = 0; step < times.front().size(); ++step) {
    for (std::size_t peer = 0; peer < times.size(); ++peer) in_step[peer] = distances[peer][step];
    for (std::size_t peer = 0; peer < times.size(); ++peer) {
      excess[peer][step] -= median(without(in_step, peer));
    }
  }
  return excess;
}

/// max(3.5 s, 10 %) of 9.4, with s from all ranks and steps.
std::int64_t stall_threshold(const OwnTimes& times, const OwnTimes& excess) {
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> usual;
  for (const auto& own : excess) all.insert(all.end(), own.begin(), own.end());
  for (const auto& own : times) usual.push_back(median(own));
  const auto centre = static_cast<double>(median(usual));
  const double sigma = std::max(robust_sigma(all), least_sigma * centre);
  return static_cast<std::int64_t>(std::max(stall_sigmas * sigma, stall_share * centre));
}

/// The distance of the stalls, if it is always the same but for one step.
std::optional<std::size_t> period_of(std::span<const std::size_t> steps) {
  if (steps.size() < least_stalls) return std::nullopt;
  std::size_t least = steps[1] - steps[0];
  std::size_t most = least;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    least = std::min(least, steps[i] - steps[i - 1]);
    most = std::max(most, steps[i] - steps[i - 1]);
  }
  if (least < 2 || most - least > 1) return std::nullopt;
  return (steps.back() - steps.front() + (steps.size() - 1) / 2) / (steps.size() - 1);
}

}  // namespace

std::vector<Stalls> find_stalls(const OwnTimes& times, std::int64_t wall_ns) {
  if (times.size() < 2 || times.front().empty()) return {};
  const OwnTimes excess = excesses(times);
  const std::int64_t threshold = stall_threshold(times, excess);
  std::vector<std::int64_t> largest;
  for (const auto& own : excess) largest.push_back(std::ranges::max(own));
  std::vector<Stalls> found;
  for (std::size_t peer = 0; peer < times.size(); ++peer) {
    const std::int64_t of_peers = std::ranges::max(without(largest, peer));
    Stalls stalls;
    stalls.peer = peer;
    for (std::size_t step = 0; step < excess[peer].size(); ++step) {
      if (excess[peer][step] <= std::max(threshold, beyond_peers * of_peers)) continue;
      stalls.steps.push_back(step);
      stalls.excess_ns += excess[peer][step];
    }
    const auto steps = static_cast<double>(excess[peer].size());
    const bool seldom = static_cast<double>(stalls.steps.size()) < most_of_steps * steps;
    const bool matters = static_cast<double>(stalls.excess_ns) >= least_of_wall * static_cast<double>(wall_ns);
    if (stalls.steps.size() < least_stalls || !seldom || !matters) continue;
    stalls.period = period_of(stalls.steps);
    found.push_back(std::move(stalls));
  }
  return found;
}

}  // namespace rankscope::analyzer
