// Expected values are those of SciPy 1.17: scipy.stats.false_discovery_control(p).
#include "compare/rank_sum.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rankscope::analyzer {
namespace {

void expect(const std::vector<double>& p, const std::vector<double>& q) {
  const std::vector<double> found = adjusted_for_many(p);
  ASSERT_EQ(found.size(), q.size());
  for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(found[i], q[i], 1e-12) << i;
}

TEST(FalseDiscovery, ResultsStayBesideTheirTests) { expect({0.01, 0.04, 0.03, 0.005}, {0.02, 0.04, 0.04, 0.02}); }

TEST(FalseDiscovery, TwentyFiveTests) {
  expect({0.001, 0.008, 0.039, 0.041, 0.042, 0.06,  0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269,
          0.275, 0.34,  0.341, 0.384, 0.569, 0.594, 0.696, 0.762, 0.94,  0.942, 0.975, 0.986},
         {0.025,
          0.1,
          0.21,
          0.21,
          0.21,
          0.25,
          0.2642857142857143,
          0.49107142857142866,
          0.49107142857142866,
          0.49107142857142866,
          0.49107142857142866,
          0.49107142857142866,
          0.49107142857142866,
          0.49107142857142866,
          0.5328125,
          0.5328125,
          0.5647058823529413,
          0.781578947368421,
          0.781578947368421,
          0.87,
          0.9071428571428571,
          0.986,
          0.986,
          0.986,
          0.986});
}

TEST(FalseDiscovery, OneTestIsAsItWasAndNoneAreNone) {
  expect({0.5}, {0.5});
  expect({1, 1}, {1, 1});
  expect({}, {});
}

}  // namespace
}  // namespace rankscope::analyzer
