#include "rankscope/trainer/layout/ring.h"

#include <algorithm>

namespace rankscope::trainer {

std::vector<Direction> directions_in_ring(int position, int size) {
  std::vector<Direction> directions;
  if (size < 2) return directions;
  for (const int neighbour : {(position + 1) % size, (position + size - 1) % size}) {
    directions.push_back({position, neighbour});
    directions.push_back({neighbour, position});
  }
  std::ranges::sort(directions);
  const auto repeated = std::ranges::unique(directions);
  directions.erase(repeated.begin(), repeated.end());
  return directions;
}

}  // namespace rankscope::trainer
