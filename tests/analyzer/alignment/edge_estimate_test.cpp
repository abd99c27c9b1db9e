// How far two clocks are apart by the operations that they share (metrics.md 7.2, 7.4).
#include "alignment/edge_estimate.h"

#include <gtest/gtest.h>

#include <vector>

namespace rankscope::analyzer::clocks {
namespace {

/// 100 operations within 1 s; of each ten the first `far` ones end later on clock b, by 1 ms, 2 ms, 3 ms, ...
EdgeEstimate estimate_with(std::int64_t far) {
  std::vector<Shared> operations;
  std::int64_t late = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    Shared operation;
    operation.end_a = i * 10'000'000;
    operation.end_b = operation.end_a + (i % 10 < far ? ++late * 1'000'000 : 0);
    operations.push_back(operation);
  }
  return estimate(operations);
}

TEST(EdgeEstimate, OfFewOperationsThatAreFarOffIsNoWorse) {
  const EdgeEstimate edge = estimate_with(2);
  EXPECT_EQ(edge.wander_ns, 0);
  EXPECT_EQ(edge.doubt, "");
}

TEST(EdgeEstimate, OfManyOperationsThatAreFarOffIsAsFarOffAsNearlyAllOfThem) {
  const EdgeEstimate edge = estimate_with(3);
  EXPECT_EQ(edge.wander_ns, 25'000'000) << "70 at 0, then 1 ms to 30 ms: position 0.95 * 99, rounded down";
  EXPECT_NE(edge.doubt, "");
}

}  // namespace
}  // namespace rankscope::analyzer::clocks
