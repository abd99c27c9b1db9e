#include "math/apportion.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rankscope::analyzer {

std::vector<std::int64_t> apportioned(std::span<const std::int64_t> parts, std::int64_t whole) {
  std::vector<std::int64_t> result(parts.size(), 0);
  const auto sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  if (sum <= 0) return result;
  // 128 bits: a day in ns times a whole of thousands does not fit into 64.
  __extension__ using Wide = __int128;
  std::vector<std::pair<std::int64_t, std::size_t>> remainders;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Wide product = Wide{parts[i]} * whole;
    result[i] = static_cast<std::int64_t>(product / sum);
    given += result[i];
    remainders.emplace_back(-static_cast<std::int64_t>(product % sum), i);
  }
  std::ranges::sort(remainders);
  for (std::size_t i = 0; given < whole && i < remainders.size(); ++i, ++given) ++result[remainders[i].second];
  return result;
}

}  // namespace rankscope::analyzer
