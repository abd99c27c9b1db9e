// Expected values are those of SciPy 1.17: scipy.stats.mannwhitneyu(a, b, method="asymptotic").
#include "compare/rank_sum.h"

#include <gtest/gtest.h>

#include <vector>

namespace rankscope::analyzer {
namespace {

using Values = std::vector<double>;

void expect(const Values& a, const Values& b, double u, double p) {
  const RankSum found = mann_whitney(a, b);
  EXPECT_DOUBLE_EQ(found.u, u);
  EXPECT_NEAR(found.p, p, 1e-12);
}

TEST(RankSum, SamplesThatDoNotOverlap) {
  expect({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 0, 0.00018267179110955002);
}

TEST(RankSum, SamplesOfDifferentLength) { expect({19, 22, 16, 29, 24}, {20, 11, 17, 12}, 17, 0.11134688653314041); }

TEST(RankSum, EqualValuesShareTheirRanks) {
  expect({1, 2, 2, 3, 3, 3, 4, 5, 5, 6}, {2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 9}, 27.5, 0.032821711908687254);
}

TEST(RankSum, ManyZerosAgainstAFewLargeValues) {
  expect({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}, {0, 0, 0, 0, 0, 0, 0, 5, 6, 7}, 42, 0.19922574604169396);
}

TEST(RankSum, ASampleAgainstItselfIsNoEvidence) {
  const Values values{100, 101, 99, 100, 102, 98, 100, 101, 99, 100};
  expect(values, values, 50, 1);
}

TEST(RankSum, EqualAndAbsentValuesAreNoEvidence) {
  expect({5, 5, 5}, {5, 5, 5}, 4.5, 1);
  EXPECT_EQ(mann_whitney({}, Values{1, 2}).p, 1);
}

}  // namespace
}  // namespace rankscope::analyzer
