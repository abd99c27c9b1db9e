// How much later work could have ended.
#include "critical_path/parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/replay/replayed.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::replay {
namespace {

/// Rank 0 exchanges with rank 1 in the middle of the step; then rank 2, which is in no group with them, works longest.
constexpr std::string_view third_rank_is_last = R"(
@run clock=same_host clock_error=0
@group pair 0,1
@group dp 0,1,2
0 step 0 1000 step index=0
0 forward 0 100 forward
0 wait 100 300 wait
0 comm 100 300 allreduce group=pair seq=0 enqueued=100 on=main
0 wait 300 1000 wait
0 comm 301 1000 allreduce group=dp seq=0 enqueued=300 on=main
1 step 0 1000 step index=0
1 forward 0 280 forward
1 wait 280 300 wait
1 comm 280 300 allreduce group=pair seq=0 enqueued=280 on=main
1 wait 300 1000 wait
1 comm 301 1000 allreduce group=dp seq=0 enqueued=300 on=main
2 step 0 1000 step index=0
2 forward 0 990 forward
2 wait 990 1000 wait
2 comm 990 1000 allreduce group=dp seq=0 enqueued=990 on=main
)";

TEST(Slack, IsNeverNegativeAndSomewhereNone) {
  const Replayed replayed{testing::make({.ranks = 4, .steps = 5, .noise = 0.1})};
  ASSERT_TRUE(replayed.graph);
  const auto slack = slack_of(*replayed.graph);
  EXPECT_EQ(std::ranges::min(slack), 0);
}

TEST(Slack, IsThereWhereAnotherRankDecidesTheStep) {
  const Replayed replayed{third_rank_is_last};
  ASSERT_TRUE(replayed.graph);
  const Matching matching = match_collectives(*replayed.run, ClockTrust{*replayed.run});
  const auto& operations = matching.section->operations;
  const auto with = operations_with_slack(*replayed.graph, slack_of(*replayed.graph), operations);
  ASSERT_EQ(operations.size(), 2U);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string_view name = replayed.run->text(replayed.run->groups()[operations[i].group.index()].name);
    EXPECT_EQ(with[i], name == "pair") << name;
  }
}

TEST(Slack, OfTheLongestWaitIsNone) {
  const Replayed replayed{two_ranks};
  const Matching matching = match_collectives(*replayed.run, ClockTrust{*replayed.run});
  const auto with = operations_with_slack(*replayed.graph, slack_of(*replayed.graph), matching.section->operations);
  ASSERT_EQ(with.size(), 1U);
  EXPECT_FALSE(with[0]);
}

}  // namespace
}  // namespace rankscope::analyzer::replay
