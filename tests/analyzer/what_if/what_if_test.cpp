// What unevenness costs, by kind, rank and operation.
#include "what_if/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/replay/replayed.h"

namespace rankscope::analyzer::replay {
namespace {

using ::testing::HasSubstr;

Section<WhatIfSection> what_if_of(const Replayed& replayed) {
  return what_if(*replayed.graph, ItemPeers(*replayed.graph, replayed.classes));
}

double slowdown_of(const std::vector<KindSlowdown>& kinds, std::string_view kind) {
  for (const KindSlowdown& one : kinds)
    if (one.kind == kind) return one.slowdown;
  return 0;
}

// Rank 0 computes 40 ns, rank 1 80 ns; then 20 ns of transfer. Ideal: 60 + 20.
TEST(WhatIf, ComparesWithWorkThatIsSharedEvenly) {
  const auto section = what_if_of(Replayed{two_ranks});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->replayed_ns, 100);
  EXPECT_EQ(section->ideal_ns, 80);
  EXPECT_DOUBLE_EQ(section->slowdown, 1.25);
  EXPECT_EQ(section->ideal_network_ns.value_or(-1), 80);
  EXPECT_DOUBLE_EQ(slowdown_of(section->kinds, "compute"), 1.25);
  EXPECT_DOUBLE_EQ(slowdown_of(section->kinds, "comm"), 1);
}

TEST(WhatIf, NamesTheRankAndTheOperationThatCost) {
  const auto section = what_if_of(Replayed{two_ranks});
  ASSERT_TRUE(section);
  ASSERT_EQ(section->ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(section->ranks[0].slowdown, 1);
  EXPECT_DOUBLE_EQ(section->ranks[1].slowdown, 1.25);
  EXPECT_EQ(section->ranks[0].without_rank_ns, 100);
  EXPECT_EQ(section->ranks[1].without_rank_ns, 60);
  ASSERT_FALSE(section->operations.empty());
  EXPECT_EQ(section->operations[0].name, "forward");
  EXPECT_DOUBLE_EQ(section->operations[0].slowdown, 1.25);
  EXPECT_EQ(section->few, 1);
  EXPECT_DOUBLE_EQ(section->few_ranks.value(), 1);
  EXPECT_DOUBLE_EQ(section->few_ranks_added.value(), 1);
  EXPECT_FALSE(section->last_stage);
}

TEST(WhatIf, TellsHowManyOperationsMissPartners) {
  EXPECT_DOUBLE_EQ(what_if_of(Replayed{two_ranks})->partners_unknown, 0);
  const auto section = what_if_of(Replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 100 step index=0
0 forward 0 40 forward
0 wait 40 100 wait
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
)"});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_DOUBLE_EQ(section->partners_unknown, 1);
}

TEST(WhatIf, PartnersThatWereRecordedAreNotCalledMissing) {
  const auto section = what_if_of(Replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 100 step index=0
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
1 step 0 100 step index=0
1 comm 40 100 allreduce group=dp seq=7 enqueued=40 on=main
)"});
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_FALSE(section->doubts.empty());
  EXPECT_EQ(section->doubts[0],
            "2 operations whose partners were not found: each keeps its measured end, so gains may be larger.");
}

// Kernels follow their launches after 20, 10 and 20 ns: the median of the delays is above their mean.
TEST(WhatIf, IsNeverLongerThanWhatWasRecorded) {
  const auto section = what_if_of(Replayed{R"(
@lane 0 main kind=thread number=1
@lane 0 s7 kind=stream number=7 device=0
0 step 0 100 step index=0 lane=main
0 step 100 190 step index=1 lane=main
0 step 190 290 step index=2 lane=main
0 runtime 0 1 cudaLaunchKernel lane=main
0 runtime 100 101 cudaLaunchKernel lane=main
0 runtime 190 191 cudaLaunchKernel lane=main
0 compute 20 100 gemm lane=s7
0 compute 110 190 gemm lane=s7
0 compute 210 290 gemm lane=s7
0 runtime 2 100 cudaDeviceSynchronize lane=main
0 runtime 102 190 cudaDeviceSynchronize lane=main
0 runtime 192 290 cudaDeviceSynchronize lane=main
@link launch 3 6
@link launch 4 7
@link launch 5 8
)"});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->replayed_ns, 290 / 3);
  EXPECT_LE(section->ideal_ns, section->replayed_ns);
  EXPECT_LE(section->without_host_delay_ns, section->replayed_ns);
  EXPECT_GE(section->slowdown, 1);
}

TEST(WhatIf, OfARankWithoutPeersIsNotTold) {
  Replayed replayed{two_ranks};
  replayed.classes = {0, 1};
  const auto section = what_if_of(replayed);
  ASSERT_TRUE(section);
  for (const RankReplay& rank : section->ranks) EXPECT_FALSE(rank.without_rank_ns) << rank.rank.value;
}

TEST(WhatIf, TellsTheLastStageAndTheHostsApart) {
  const auto section = what_if_of(Replayed{R"(
@run clock=same_host clock_error=0
@group dp 0,1
@rank 0 host=a meta.stage=0
@rank 1 host=b meta.stage=1
0 step 0 100 step index=0
0 forward 0 40 forward
0 wait 40 100 wait
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
1 step 0 100 step index=0
1 forward 0 80 forward
1 wait 80 100 wait
1 comm 80 100 allreduce group=dp seq=0 enqueued=80 on=main
)"});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_DOUBLE_EQ(section->last_stage.value(), 1);
  ASSERT_EQ(section->hosts.size(), 2U);
  EXPECT_EQ(section->hosts[0].name, "b");
  EXPECT_DOUBLE_EQ(section->hosts[0].slowdown, 1.25);
  EXPECT_DOUBLE_EQ(section->hosts[1].slowdown, 1);
}

TEST(WhatIf, IsRefusedWhereTheReplayMissesWhatWasMeasured) {
  Replayed replayed{two_ranks};
  replayed.graph->steps[0].measured_ns = 106;
  const auto section = what_if_of(replayed);
  ASSERT_FALSE(section);
  EXPECT_THAT(section.error().why, HasSubstr("misses its measured time by 6 %"));
  replayed.graph->steps[0].measured_ns = 104;
  EXPECT_TRUE(what_if_of(replayed));
}

}  // namespace
}  // namespace rankscope::analyzer::replay
