// The graph replays what was measured, and what would have been.
#include "replay/simulate.h"

#include <gtest/gtest.h>

#include "analyzer/replay/replayed.h"

namespace rankscope::analyzer::replay {
namespace {

TEST(Replay, OfTheUnchangedGraphIsTheMeasuredTime) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Replayed replayed{testing::make({.ranks = 4, .steps = 12, .noise = 0.05, .seed = seed})};
    ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
    EXPECT_EQ(replayed.graph->ranks.size(), 4U);
    EXPECT_EQ(total_ns(*replayed.graph, as_measured(*replayed.graph)), measured_ns(*replayed.graph));
  }
}

TEST(Replay, OfAnAcceleratorIsTheMeasuredTime) {
  const Replayed replayed{three_kernels};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(total_ns(*replayed.graph, as_measured(*replayed.graph)), 1000);
}

TEST(Replay, EndsWhenTheLastMemberOfACollectiveHasCome) {
  const Replayed replayed{two_ranks};
  ASSERT_TRUE(replayed.graph);
  EXPECT_EQ(replayed.with({"op:forward*1"}), 100);
  EXPECT_EQ(replayed.with({"rank:1"}), 60) << "rank 1 computes 40 ns as rank 0 does, then 20 ns of transfer";
  EXPECT_EQ(replayed.with({"rank:0"}), 100) << "rank 0 made nobody wait";
  EXPECT_EQ(replayed.with({"op:forward*0.5"}), 60);
}

TEST(Replay, WithoutNetworkEndsWhenEverybodyHasStarted) {
  EXPECT_EQ(Replayed{two_ranks}.with({"network"}), 80);
  EXPECT_EQ(Replayed{two_ranks}.with({"network", "rank:1"}), 40);
}

TEST(Replay, OfFasterKernelsIsBoundByTheirLaunches) {
  const Replayed replayed{three_kernels};
  ASSERT_TRUE(replayed.graph);
  // The last one is launched at 150, the thread waits from 200 on, goes on 10 ns after it found all done, and runs for
  // 620 ns more.
  EXPECT_EQ(replayed.with({"remove:first", "remove:second", "remove:third"}), 200 + 10 + 620);
  EXPECT_EQ(replayed.with({"op:second*0.5"}), 950);
  EXPECT_EQ(replayed.with({"launch"}), 1000 - 20 - 10) << "before the first kernel, and before the thread goes on";
}

TEST(Replay, NeedsClocksThatCanBeCompared) {
  const Replayed replayed{
      "@run clock=none\n@rank 0 host=a\n0 step 0 10 step index=0\n0 op 0 5 x\n@rank 1 host=b\n1 step 0 10 step "
      "index=0\n"
      "1 op 0 5 x\n"};
  ASSERT_FALSE(replayed.graph);
  EXPECT_EQ(replayed.graph.error().why, "the clocks of the ranks cannot be compared");
}

TEST(Replay, TakesTheWholeRecordingWhereThereAreNoSteps) {
  const Replayed replayed{"0 op 10 40 x\n0 op 50 110 y\n"};
  ASSERT_TRUE(replayed.graph);
  EXPECT_TRUE(replayed.graph->whole_recording);
  EXPECT_EQ(replayed.with({"op:y*0.5"}), 70);
}

TEST(Replay, KeepsWhatPartnersThatAreNotRecordedHeldUp) {
  const Replayed replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 100 step index=0
0 forward 0 40 forward
0 wait 40 100 wait
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
)"};
  ASSERT_TRUE(replayed.graph);
  EXPECT_EQ(replayed.graph->doubts.unsplit_members, 1);
  EXPECT_EQ(replayed.with({"op:forward*0.5"}), 100);
}

TEST(Replay, LetsAThreadWaitForAnotherThatWorkedInItsPlace) {
  const Replayed replayed{R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 autograd kind=thread number=2
@lane 0 "stream 7" kind=stream number=7 device=0
0 step 0 1000000 step index=0 lane=main
0 op 0 100000 forward lane=main
0 op 700000 800000 optimizer lane=main
0 op 120000 650000 backward lane=autograd
0 runtime 200000 210000 cudaLaunchKernel lane=autograd
0 compute 220000 300000 kernel lane="stream 7"
@link launch 4 5
)"};
  ASSERT_TRUE(replayed.graph);
  EXPECT_EQ(replayed.with({"op:backward*1"}), 1'000'000);
  // 530 us of backward, 10 of them in the launch.
  EXPECT_EQ(replayed.with({"op:backward*0.5"}), 1'000'000 - 265'000);
}

TEST(Replay, OfOverlappedCommunicationWaitsForItsDataOnly) {
  const Replayed replayed{R"(
@run clock=same_host
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
@group dp 0,1
0 step 0 400 step index=0 lane=main
0 runtime 10 20 cudaLaunchKernel lane=main
0 runtime 30 40 cudaLaunchKernel lane=main
0 runtime 50 400 cudaDeviceSynchronize lane=main
0 compute 100 200 gemm lane="stream 7"
0 comm 200 390 allreduce group=dp seq=0 lane="stream 7"
@rank 1 pid=2
@lane 1 main kind=thread number=1
@lane 1 "stream 7" kind=stream number=7 device=0
1 step 0 400 step index=0 lane=main
1 runtime 10 20 cudaLaunchKernel lane=main
1 runtime 30 40 cudaLaunchKernel lane=main
1 runtime 50 400 cudaDeviceSynchronize lane=main
1 compute 100 200 gemm lane="stream 7"
1 comm 200 390 allreduce group=dp seq=0 lane="stream 7"
@link launch 1 4
@link launch 2 5
@link launch 7 10
@link launch 8 11
)"};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"overlap:all"}), 30 + 190 + 10) << "the transfer of 190 ns begins at its launch at 30";
}

}  // namespace
}  // namespace rankscope::analyzer::replay
