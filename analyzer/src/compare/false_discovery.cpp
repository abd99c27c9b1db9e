#include "compare/false_discovery.h"

#include <algorithm>
#include <numeric>

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

}  // namespace rankscope::analyzer
