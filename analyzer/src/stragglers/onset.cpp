#include "stragglers/onset.h"

#include <algorithm>

#include "math/statistics.h"

namespace rankscope::analyzer {
namespace {

constexpr double most_misplaced = 0.1;  // share of the steps that may be slow before, or not slow after

std::vector<bool> slow_steps(const OwnTimes& times, std::size_t peer, double ratio) {
  std::vector<bool> slow;
  std::vector<std::int64_t> in_step(times.size());
  for (std::size_t step = 0; step < times.front().size(); ++step) {
    for (std::size_t i = 0; i < times.size(); ++i) in_step[i] = times[i][step];
    const auto usual = static_cast<double>(median(without(in_step, peer)));
    slow.push_back(static_cast<double>(in_step[peer]) > usual * (1 + (ratio - 1) / 2));
  }
  return slow;
}

}  // namespace

std::optional<StepBlock> slow_end(const OwnTimes& times, std::size_t peer, double ratio) {
  const std::vector<bool> slow = slow_steps(times, peer, ratio);
  // With the first slow step at `first`: slow ones before it and others from it on stand on the wrong side.
  auto misplaced = static_cast<std::size_t>(std::ranges::count(slow, false));
  std::size_t least = misplaced;
  std::size_t first = 0;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    slow[i] ? ++misplaced : --misplaced;
    if (misplaced < least) least = misplaced, first = i + 1;
  }
  if (static_cast<double>(least) > most_misplaced * static_cast<double>(slow.size())) return std::nullopt;
  return StepBlock{first, slow.size() - first};
}

}  // namespace rankscope::analyzer
