// Who kept the others waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Steps of 1 ms with one operation, in which rank 0 starts 300 us, rank 1 100 us and rank 2 500 us behind the begin.
LastArrivals arrivals_of(std::string_view operation, int steps) {
  std::string text = "@run clock=same_host\n@group dp 0,1,2\n";
  for (int step = 0; step < steps; ++step)
    for (const auto& [rank, start] : {std::pair{0, 300}, {1, 100}, {2, 500}}) {
      const std::int64_t begin = 1'000'000LL * step;
      text += format("{} step {} {} step index={}\n", rank, begin, begin + 1'000'000, step);
      text += format("{0} op {1} {2} work\n{0} comm {2} {3} {4} group=dp\n", rank, begin, begin + start * 1'000,
                     begin + 900'000, operation);
    }
  const Report report = analyze(*testing::run_of(text), {});
  EXPECT_TRUE(report.stragglers) << report.stragglers.error().why;
  return report.stragglers ? report.stragglers->last_arrivals : LastArrivals{};
}

TEST(Arrivals, OfAnAllreduceTheLastToStartKeepsTheOthersWaiting) {
  for (const int steps : {10, 30})  // operations count, or steps
    EXPECT_THAT(arrivals_of("allreduce", steps).ranks, ElementsAre(Pair(RankId{2}, steps))) << steps;
}

TEST(Arrivals, OfABroadcastItIsItsRootWhoeverStartsLast) {
  for (const int steps : {10, 30})
    EXPECT_THAT(arrivals_of("broadcast peer=0", steps).ranks, ElementsAre(Pair(RankId{0}, steps))) << steps;
  EXPECT_THAT(arrivals_of("broadcast peer=1", 10).ranks, IsEmpty()) << "its root was the first";
}

TEST(Arrivals, OfAReduceNobodyWaitsForItsRoot) {
  EXPECT_THAT(arrivals_of("reduce peer=0", 10).ranks, ElementsAre(Pair(RankId{2}, 10)));
  EXPECT_THAT(arrivals_of("reduce peer=2", 10).ranks, IsEmpty());
}

TEST(Arrivals, WhereTheRootIsNotKnownNobodyIsNamed) { EXPECT_THAT(arrivals_of("broadcast", 10).ranks, IsEmpty()); }

}  // namespace
}  // namespace rankscope::analyzer
