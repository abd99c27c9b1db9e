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
  EXPECT_EQ(replayed.with({"launch"}), 1000 - 20)
      << "before the first kernel; why the thread goes on late is not known";
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

/// Two ranks whose collectives run on a thread of Gloo, as torch.profiler records them: the main thread launches them
/// by an operator, and stands still until they have ended.
constexpr std::string_view collectives_on_helper_threads = R"(
@run clock=same_host clock_error=0
@rank 0 pid=1
@rank 1 pid=2
@lane 0 main kind=thread number=1
@lane 0 gloo kind=thread number=2
@lane 1 main kind=thread number=1
@lane 1 gloo kind=thread number=2
@group dp 0,1
0 step 0 1000000 step index=0 lane=main
0 forward 0 200000 forward lane=main
0 op 200000 210000 c10d::allreduce_ lane=main
0 comm 220000 800000 allreduce group=dp seq=0 lane=gloo
0 optimizer 810000 1000000 optimizer lane=main
1 step 0 1000000 step index=0 lane=main
1 forward 0 700000 forward lane=main
1 op 700000 710000 c10d::allreduce_ lane=main
1 comm 720000 800000 allreduce group=dp seq=0 lane=gloo
1 optimizer 810000 1000000 optimizer lane=main
)";

TEST(Replay, LetsTheMainThreadWaitForACollectiveOnAHelperThread) {
  const Replayed replayed{collectives_on_helper_threads};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"op:forward*1"}), 1'000'000);
  EXPECT_EQ(replayed.with({"rank:1"}), 500'000) << "the collective is launched 500 us earlier, and so is the optimizer";
  EXPECT_EQ(replayed.with({"network"}), 1'000'000 - 80'000) << "the wait for the last rank remains";
}

TEST(Replay, DoesNotTakeWorkThatWentOnForAWait) {
  std::string text{collectives_on_helper_threads};
  for (const std::string_view comm : {"0 comm 220000 800000", "1 comm 720000 800000"}) {
    const std::size_t at = text.find(comm);
    text.replace(at, comm.size(), std::string{comm.substr(0, comm.size() - 6)} + "725000");
  }
  const Replayed replayed{text};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"network"}), 1'000'000)
      << "on rank 1, the main thread went on for 85 us after the collective had ended: it did not wait for it";
}

/// Two ranks; on one stream A of 100 ns, an allreduce of 50 and C of 100. The thread goes on 10 ns later, for 30 ns.
constexpr std::string_view communication_in_the_way = R"(
@run clock=same_host clock_error=0
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
@group dp 0,1
0 step 0 300 step index=0 lane=main
0 runtime 1 3 cudaLaunchKernel lane=main
0 runtime 4 6 cudaLaunchKernel lane=main
0 runtime 7 9 cudaLaunchKernel lane=main
0 runtime 10 270 cudaDeviceSynchronize lane=main
0 compute 10 110 A lane="stream 7"
0 comm 110 160 allreduce group=dp seq=0 lane="stream 7"
0 compute 160 260 C lane="stream 7"
@rank 1 pid=2
@lane 1 main kind=thread number=1
@lane 1 "stream 7" kind=stream number=7 device=0
1 step 0 300 step index=0 lane=main
1 runtime 1 3 cudaLaunchKernel lane=main
1 runtime 4 6 cudaLaunchKernel lane=main
1 runtime 7 9 cudaLaunchKernel lane=main
1 runtime 10 270 cudaDeviceSynchronize lane=main
1 compute 10 110 A lane="stream 7"
1 comm 110 160 allreduce group=dp seq=0 lane="stream 7"
1 compute 160 260 C lane="stream 7"
@link launch 1 5
@link launch 2 6
@link launch 3 7
@link launch 9 13
@link launch 10 14
@link launch 11 15
)";

TEST(Replay, OfOverlappedCommunicationLetsTheWorkBehindItGoAhead) {
  const Replayed replayed{communication_in_the_way};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"overlap:all"}), 300 - 50) << "C follows A, and the transfer runs beside it";
  EXPECT_EQ(replayed.with({"overlap:all", "op:A*0.5"}), 300 - 50 - 50) << "it still waits for A, which makes its data";
}

TEST(Replay, OfOverlappedCommunicationGainsOnThreadsThatExecuteIt) {
  const Replayed replayed{R"(
@run clock=same_host clock_error=0
@group dp 0,1
0 step 0 100 step index=0 lane=main
0 forward 0 30 forward lane=main
0 comm 30 60 allreduce group=dp seq=0 lane=main
0 optimizer 60 100 optimizer lane=main
1 step 0 100 step index=0 lane=main
1 forward 0 40 forward lane=main
1 comm 40 60 allreduce group=dp seq=0 lane=main
1 optimizer 60 100 optimizer lane=main
)"};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"overlap:all"}), 80);
  EXPECT_EQ(replayed.with({"overlap:all", "rank:1"}), 70) << "changes add up";
}

TEST(Replay, OfADeviceThatIsAwaitedWaitsForAllOfItsStreams) {
  const Replayed replayed{R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
@lane 0 "stream 20" kind=stream number=20 device=0
0 step 0 1000 step index=0 lane=main
0 runtime 1 3 cudaLaunchKernel lane=main
0 runtime 4 6 cudaMemcpyAsync lane=main
0 runtime 7 400 cudaDeviceSynchronize lane=main
0 op 400 990 work lane=main
0 compute 10 380 gemm lane="stream 7"
0 memory 20 390 copy lane="stream 20"
@link launch 1 5
@link launch 2 6
)"};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"remove:copy"}), 1000 - 10) << "the kernel ends 10 ns before the copy did";
  EXPECT_EQ(replayed.with({"remove:copy", "remove:gemm"}), 20 + 10 + 600) << "the copy began at 20";
}

TEST(Replay, LetsWorkWithoutLengthGrow) {
  const Replayed replayed{R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
0 step 0 300 step index=0 lane=main
0 runtime 1 3 cudaLaunchKernel lane=main
0 runtime 4 280 cudaDeviceSynchronize lane=main
0 compute 270 270 empty lane="stream 7"
@link launch 1 3
)"};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  Scenario scenario = as_measured(*replayed.graph);
  for (std::size_t i = 0; i < scenario.item_ns.size(); ++i)
    if (replayed.graph->items[i].work == Work::compute) scenario.item_ns[i] = 50;
  EXPECT_EQ(total_ns(*replayed.graph, scenario), 350);
}

TEST(Replay, OfWorkWithoutLengthAtOneMomentHasNoCircle) {
  const Replayed replayed{R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
@lane 0 "stream 20" kind=stream number=20 device=0
0 step 0 1000 step index=0 lane=main
0 runtime 1 3 cudaLaunchKernel lane=main
0 runtime 4 6 cudaLaunchKernel lane=main
0 compute 100 100 one lane="stream 7"
0 compute 100 100 other lane="stream 20"
@link launch 1 3
@link launch 2 4
)"};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(total_ns(*replayed.graph, as_measured(*replayed.graph)), 1000);
}

TEST(Replay, FollowsTheThreadWithTheMarksOfSteps) {
  const Replayed replayed{R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 helper kind=thread number=2
0 user 0 1000 "step 0" lane=main
0 op 0 900 work lane=main
0 user 1000 2000 "step 1" lane=main
0 op 1000 1900 work lane=main
0 op 0 10 a lane=helper
0 op 10 20 b lane=helper
0 op 20 30 c lane=helper
0 op 30 40 d lane=helper
0 op 40 50 e lane=helper
)"};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.graph->steps.size(), 2U);
  EXPECT_EQ(replayed.with({"op:work*0.5"}), 2000 - 900);
}

}  // namespace
}  // namespace rankscope::analyzer::replay
