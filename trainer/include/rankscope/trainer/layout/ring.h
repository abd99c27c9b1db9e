// Who sends to whom in a ring of ranks.
#pragma once

#include <compare>
#include <vector>

namespace rankscope::trainer {

/// From one member of a group to another; positions in the group.
struct Direction {
  int from = 0;
  int to = 0;
  auto operator<=>(const Direction&) const = default;
};

/// Both directions between the member at `position` and its neighbours in the ring of all `size` members, ascending: if
/// every member takes its own one after another, and each needs both of its ends, none waits for ever.
[[nodiscard]] std::vector<Direction> directions_in_ring(int position, int size);

}  // namespace rankscope::trainer
