#include "stragglers/own_time_windows.h"

#include <algorithm>

#include "math/statistics.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t many_steps = 250;  // metrics.md 9.1: from here on windows of 50 steps
constexpr std::size_t long_window = 50;
constexpr double least_ratio = 1.05;  // 9.2
constexpr double least_detectable = 0.06;
constexpr double few_peers_ratio = 1.15;        // 9.3
constexpr double chosen_ratio = 1.10;           // 9.5: twice the excess of 9.2
constexpr double chosen_few_peers_ratio = 1.3;  // and of 9.3
constexpr double chosen_stricter = 2;           // times z(n)
constexpr double few_peers_sigmas = 3;          // with two or three ranks only a rank's own steadiness shows the noise

double ratio_of(std::int64_t own, std::int64_t peers) {
  return peers > 0 ? static_cast<double>(own) / static_cast<double>(peers) : 1;
}

/// s of 9.2 for the medians of one window; the timer step is 1 ns.
double scale(std::span<const std::int64_t> medians, std::int64_t centre) {
  return std::max({robust_sigma(medians), least_sigma * static_cast<double>(centre), 1.0});
}

std::vector<std::int64_t> medians_of(const OwnTimes& times, const StepBlock& block) {
  std::vector<std::int64_t> medians;
  for (const auto& own : times) medians.push_back(median(std::span(own).subspan(block.first, block.count)));
  return medians;
}

/// 9.2 for four ranks and more.
OwnTimeComparison compare_many(std::span<const std::int64_t> medians, std::size_t peer) {
  OwnTimeComparison result;
  result.own_ns = medians[peer];
  result.peers_ns = median(without(medians, peer));
  result.ratio = ratio_of(result.own_ns, result.peers_ns);
  const double z = static_cast<double>(result.own_ns - result.peers_ns) / scale(medians, result.peers_ns);
  result.flagged = z >= straggler_threshold(medians.size()) && result.ratio >= least_ratio;
  return result;
}

/// 9.3 for two and three ranks; `noise` is the relative unsteadiness of window medians.
OwnTimeComparison compare_few(std::span<const std::int64_t> medians, std::size_t peer, double noise) {
  OwnTimeComparison result;
  result.own_ns = medians[peer];
  result.peers_ns = median(without(medians, peer));
  result.ratio = ratio_of(result.own_ns, result.peers_ns);
  result.flagged = result.ratio >= few_peers_ratio && result.ratio >= 1 + few_peers_sigmas * noise;
  return result;
}

/// How much the window medians of the least steady rank scatter, relative to its median.
double unsteadiness(const OwnTimes& times, std::span<const StepBlock> blocks) {
  double worst = 0;
  for (const auto& own : times) {
    std::vector<std::int64_t> medians;
    for (const StepBlock& block : blocks) medians.push_back(median(std::span(own).subspan(block.first, block.count)));
    const std::int64_t centre = median(medians);
    if (centre > 0) worst = std::max(worst, robust_sigma(medians) / static_cast<double>(centre));
  }
  return worst;
}

/// 9.2: max(6 %, z_n s / c), the median over the windows.
double detectable_among_many(const OwnTimes& times, std::span<const StepBlock> blocks) {
  std::vector<double> shares;
  for (const StepBlock& block : blocks) {
    const std::vector<std::int64_t> medians = medians_of(times, block);
    const std::int64_t centre = median(medians);
    if (centre <= 0) continue;
    shares.push_back(straggler_threshold(times.size()) * scale(medians, centre) / static_cast<double>(centre));
  }
  if (shares.empty()) return 1 + least_detectable;
  return 1 + std::max(least_detectable, median(std::move(shares)));
}

}  // namespace

OwnTimeComparison compare_chosen(const OwnTimes& times, const StepBlock& steps, std::size_t peer) {
  const std::vector<std::int64_t> medians = medians_of(times, steps);
  if (times.size() < firm_peers) {
    OwnTimeComparison few = compare_few(medians, peer, unsteadiness(times, step_blocks(times.front().size())));
    few.flagged = few.flagged && few.ratio >= chosen_few_peers_ratio;
    return few;
  }
  OwnTimeComparison many = compare_many(medians, peer);
  const double limit = chosen_stricter * straggler_threshold(times.size()) * scale(medians, many.peers_ns);
  many.flagged = many.ratio >= chosen_ratio && static_cast<double>(many.own_ns - many.peers_ns) >= limit;
  return many;
}

std::vector<StepBlock> step_blocks(std::size_t steps) {
  if (steps < least_steps) return {};
  std::vector<StepBlock> blocks;
  if (steps >= many_steps) {
    for (std::size_t first = 0; first + long_window <= steps; first += long_window)
      blocks.push_back({first, long_window});
    return blocks;
  }
  for (std::size_t i = 0; i < consecutive_windows; ++i) {
    const std::size_t first = i * steps / consecutive_windows;
    blocks.push_back({first, (i + 1) * steps / consecutive_windows - first});
  }
  return blocks;
}

std::string text_of(std::span<const StepBlock> blocks) {
  const auto [least, most] = std::ranges::minmax(blocks, {}, &StepBlock::count);
  const std::string shorter = least.count == most.count ? "" : format("{} or ", least.count);
  return format("{} of {}{}", counted(blocks.size(), "comparison window"), shorter, counted(most.count, "step"));
}

bool WindowVerdicts::is_persistent(std::size_t peer) const {
  const std::vector<OwnTimeComparison>& own = comparisons[peer];
  for (std::size_t first = 0; first + consecutive_windows <= own.size(); ++first) {
    const auto five = std::span(own).subspan(first, consecutive_windows);
    if (std::cmp_greater_equal(std::ranges::count(five, true, &OwnTimeComparison::flagged), flags_needed)) return true;
  }
  return false;
}

WindowVerdicts compare_windows(const OwnTimes& times) {
  WindowVerdicts verdicts;
  verdicts.comparisons.resize(times.size());
  if (times.size() < 2) return verdicts;
  verdicts.blocks = step_blocks(times.front().size());
  const bool many = times.size() >= firm_peers;
  const double noise = many ? 0 : unsteadiness(times, verdicts.blocks);
  for (const StepBlock& block : verdicts.blocks) {
    const std::vector<std::int64_t> medians = medians_of(times, block);
    for (std::size_t peer = 0; peer < times.size(); ++peer) {
      verdicts.comparisons[peer].push_back(many ? compare_many(medians, peer) : compare_few(medians, peer, noise));
    }
  }
  verdicts.smallest_detectable =
      many ? detectable_among_many(times, verdicts.blocks) : std::max(few_peers_ratio, 1 + few_peers_sigmas * noise);
  return verdicts;
}

}  // namespace rankscope::analyzer
