#include "rankscope/trainer/layout/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DirectionsInRing, AreThoseToBothNeighbours) {
  EXPECT_THAT(directions_in_ring(0, 1), IsEmpty());
  EXPECT_THAT(directions_in_ring(1, 2), ElementsAre(Direction{0, 1}, Direction{1, 0}));
  EXPECT_THAT(directions_in_ring(2, 4),
              ElementsAre(Direction{1, 2}, Direction{2, 1}, Direction{2, 3}, Direction{3, 2}));
  EXPECT_THAT(directions_in_ring(3, 4),
              ElementsAre(Direction{0, 3}, Direction{2, 3}, Direction{3, 0}, Direction{3, 2}));
}

/// Every member takes the first of its own that is left as soon as its partner takes the same one.
TEST(DirectionsInRing, AreTakenByAllMembersWithoutADeadlock) {
  for (int size = 1; size <= 9; ++size) {
    std::vector<std::vector<Direction>> left;
    for (int member = 0; member < size; ++member) left.push_back(directions_in_ring(member, size));
    const auto first_is = [&left](int member, Direction direction) {
      const auto& own = left[static_cast<std::size_t>(member)];
      return !own.empty() && own.front() == direction;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (int member = 0; member < size; ++member) {
        if (left[static_cast<std::size_t>(member)].empty()) continue;
        const Direction next = left[static_cast<std::size_t>(member)].front();
        if (!first_is(next.from, next) || !first_is(next.to, next)) continue;
        for (const int end : {next.from, next.to}) {
          auto& own = left[static_cast<std::size_t>(end)];
          own.erase(own.begin());
        }
        moved = true;
      }
    }
    for (const auto& own : left) EXPECT_THAT(own, IsEmpty()) << size << " members";
  }
}

}  // namespace
}  // namespace rankscope::trainer
