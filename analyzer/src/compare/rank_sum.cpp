#include "compare/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace rankscope::analyzer {

std::vector<double> adjusted_for_many(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t test) { return p[test]; });
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (std::size_t place = order.size(); place > 0; --place) {
    const double own = p[order[place - 1]] * static_cast<double>(p.size()) / static_cast<double>(place);
    least = std::min(least, own);
    adjusted[order[place - 1]] = least;
  }
  return adjusted;
}

RankSum mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return {};
  std::vector<std::pair<double, bool>> all;  // value, is of a
  for (const double value : a) all.emplace_back(value, true);
  for (const double value : b) all.emplace_back(value, false);
  std::ranges::sort(all, {}, &std::pair<double, bool>::first);
  double ranks_of_a = 0;
  double ties = 0;  // sum of t^3 - t over runs of t equal values
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].first == all[begin].first) ++end;
    const auto run = std::span{all}.subspan(begin, end - begin);
    const auto of_a = static_cast<double>(std::ranges::count(run, true, &std::pair<double, bool>::second));
    const auto length = static_cast<double>(run.size());
    ranks_of_a += of_a * (static_cast<double>(begin + end + 1) / 2);
    ties += length * length * length - length;
  }
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double u = ranks_of_a - n * (n + 1) / 2;
  const double deviation = std::sqrt(n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1))));
  const double distance = std::abs(u - n * m / 2) - 0.5;
  if (!(deviation > 0) || distance <= 0) return {u, 1};
  return {u, std::min(1.0, std::erfc(distance / deviation / std::numbers::sqrt2))};
}

}  // namespace rankscope::analyzer
