// Collectives that name their group and not their place in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alignment/aligned_run.h"
#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two ranks; in each step of 100 ms as many operations as are given for that rank.
Matching matched(const std::vector<int>& rank_0, const std::vector<int>& rank_1, bool marked = true) {
  std::string text = "@run clock=same_host\n@group dp 0,1\n";
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<int>& calls = rank == 0 ? rank_0 : rank_1;
    for (std::size_t step = 0; step < calls.size(); ++step) {
      const std::int64_t begin = 100'000'000LL * static_cast<std::int64_t>(step);
      if (marked) text += format("{} step {} {} step index={}\n", rank, begin, begin + 100'000'000, step);
      for (int call = 0; call < calls[step]; ++call)
        text += format("{} comm {} {} allreduce group=dp seq=-1\n", rank, begin + 10'000'000LL * (call + 1),
                       begin + 10'000'000LL * (call + 1) + 5'000'000);
    }
  }
  const auto run = testing::run_of(text);
  const AlignedRun aligned{*run};
  return match_collectives(aligned.run(), aligned.clocks());
}

TEST(CallOrder, BeginsAnewInEachStep) {
  const Matching matching = matched({2, 2, 3}, {2, 1, 3});
  ASSERT_TRUE(matching.section);
  EXPECT_THAT(matching.section->key, HasSubstr("call order in each step"));
  EXPECT_EQ(matching.section->matched, 10) << "all but step 1";
  EXPECT_EQ(matching.section->unmatched, 3);
  EXPECT_THAT(matching.section->matched_by, ElementsAre(0, 10, 0));
  for (const Operation& operation : matching.section->operations)
    EXPECT_EQ(operation.spread_ns, 0) << "members of one step, or one member";
}

TEST(CallOrder, IsThatOfTheRankWhereStepsAreNotMarked) {
  const Matching matching = matched({2, 2}, {2, 2}, false);
  ASSERT_TRUE(matching.section);
  EXPECT_THAT(matching.section->key, HasSubstr("call order (sequence"));
  EXPECT_EQ(matching.section->matched, 8);
}

}  // namespace
}  // namespace rankscope::analyzer
