#include "alignment/solve.h"

#include <algorithm>

#include "math/statistics.h"

namespace rankscope::analyzer::clocks {
namespace {

constexpr std::size_t most_points = 200;
constexpr std::size_t most_points_of_all = 3200;
constexpr std::size_t least_points = 8;

/// Every n-th, the last one included.
void thin(std::vector<ClockResidual>& points, std::size_t most) {
  if (points.size() <= most) return;
  std::vector<ClockResidual> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  points = std::move(kept);
}

struct EndOnClock {
  std::uint32_t clock = 0;
  std::int64_t end = 0;
};

}  // namespace

std::vector<std::vector<ClockResidual>> residuals_of(const Observations& all, const Domains& domains,
                                                     std::span<const ClockMap> maps) {
  std::vector<std::vector<ClockResidual>> points(domains.clocks.size());
  for (std::size_t k = 0; k < all.operations(); ++k) {
    std::vector<EndOnClock> ends;
    std::vector<std::int64_t> values;
    for (const Part& part : all.operation(k)) {
      const std::uint32_t clock = domains.of_rank[part.rank_row];
      ends.push_back({clock, ns_of(maps[clock].run_time(at(part.end_ns)))});
      values.push_back(ends.back().end);
    }
    const auto is_same = [&](const EndOnClock& end) { return end.clock == ends.front().clock; };
    if (std::ranges::all_of(ends, is_same)) continue;
    const std::int64_t middle = median(values);
    std::ranges::stable_sort(ends, {}, &EndOnClock::clock);
    for (std::size_t begin = 0; begin < ends.size();) {
      std::vector<std::int64_t> own;
      std::size_t end = begin;
      for (; end < ends.size() && ends[end].clock == ends[begin].clock; ++end) own.push_back(ends[end].end);
      points[ends[begin].clock].push_back({middle, median(own) - middle});
      begin = end;
    }
  }
  const std::size_t most =
      std::clamp(most_points_of_all / std::max<std::size_t>(1, points.size()), least_points, most_points);
  for (std::vector<ClockResidual>& of_clock : points) {
    std::ranges::stable_sort(of_clock, {}, &ClockResidual::at_ns);
    thin(of_clock, most);
  }
  return points;
}

std::vector<RankResidual> rank_residuals(const Observations& all, const Domains& domains) {
  std::vector<std::vector<std::int64_t>> late(domains.of_rank.size());
  for (std::size_t k = 0; k < all.operations(); ++k) {
    std::vector<Part> parts(all.operation(k).begin(), all.operation(k).end());
    std::ranges::stable_sort(parts, {}, [&](const Part& part) { return domains.of_rank[part.rank_row]; });
    for (std::size_t begin = 0; begin < parts.size();) {
      std::vector<std::int64_t> ends;
      std::size_t end = begin;
      const std::uint32_t clock = domains.of_rank[parts[begin].rank_row];
      for (; end < parts.size() && domains.of_rank[parts[end].rank_row] == clock; ++end)
        if (parts[end].on_device) ends.push_back(parts[end].end_ns);
      const std::int64_t middle = median(ends);
      for (; begin < end; ++begin)
        if (ends.size() >= 2 && parts[begin].on_device)
          late[parts[begin].rank_row].push_back(parts[begin].end_ns - middle);
    }
  }
  std::vector<RankResidual> result;
  for (const std::vector<std::int64_t>& of_rank : late)
    result.push_back({of_rank.size(), static_cast<double>(median(of_rank)), robust_sigma(of_rank)});
  return result;
}

}  // namespace rankscope::analyzer::clocks
