// One path that explains each step to the nanosecond.
#include "critical_path/parts.h"

#include <gtest/gtest.h>

#include <map>

#include <numeric>

#include "analyzer/replay/replayed.h"
#include "critical_path/path_walk.h"

namespace rankscope::analyzer::replay {
namespace {

std::int64_t sum(const PathSums& sums) { return std::accumulate(sums.begin(), sums.end(), std::int64_t{0}); }

TEST(CriticalPath, TilesEachStep) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const Replayed replayed{testing::make({.ranks = 5, .steps = 9, .noise = 0.1, .seed = seed})};
    ASSERT_TRUE(replayed.graph);
    const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
    EXPECT_EQ(path.length_ns, measured_ns(*replayed.graph));
    EXPECT_EQ(sum(path.sums_ns), path.length_ns);
    std::int64_t ranks = 0;
    for (const PathOfRank& rank : path.ranks) ranks += rank.ns;
    EXPECT_EQ(ranks, path.length_ns);
    std::int64_t operations = 0;
    for (const PathOperation& operation : path.operations) operations += operation.ns;
    EXPECT_EQ(operations, path.length_ns);
    for (std::size_t step = 0; step < path.steps.size(); ++step) {
      EXPECT_EQ(path.steps[step].length_ns, replayed.graph->steps[step].measured_ns);
      RunTime now = begin_of_step(*replayed.graph, step);
      for (const PathStretch& stretch : walk_path(*replayed.graph, step).stretches) {
        EXPECT_EQ(stretch.time.begin, now);
        now = stretch.time.end;
      }
      EXPECT_EQ(now, begin_of_step(*replayed.graph, step + 1));
    }
    EXPECT_EQ(path.clamped_ns, 0);
  }
}

TEST(CriticalPath, GoesThroughTheRankThatCameLast) {
  const Replayed replayed{two_ranks};
  const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
  EXPECT_EQ(path.ns_of(PathClass::compute), 80);
  EXPECT_EQ(path.ns_of(PathClass::comm), 20);
  ASSERT_FALSE(path.operations.empty());
  EXPECT_EQ(path.operations.front().name, "forward");
  EXPECT_EQ(path.operations.front().imbalance_ns, 80 - (80 + 40) / 2);
  ASSERT_FALSE(path.drawn.empty());
  EXPECT_EQ(path.drawn.front().rank, RankId{1});
}

TEST(CriticalPath, ListsOperationsOfEqualTimeByName) {
  const Replayed replayed{
      "@run clock=same_host\n0 step 0 100 step index=0\n"
      "0 op 0 40 zebra\n0 op 40 60 middle\n0 op 60 100 ant\n"};
  const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
  ASSERT_EQ(path.operations.size(), 3U);
  EXPECT_EQ(path.operations[0].name, "ant");
  EXPECT_EQ(path.operations[1].name, "zebra");
}

TEST(CriticalPath, OfAStarvedDeviceIsTheHost) {
  const Replayed replayed{three_kernels};
  const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
  // To 50 the host, 20 ns until the first kernel begins, 300 ns of kernels, then the host again.
  EXPECT_EQ(path.ns_of(PathClass::compute), 300);
  EXPECT_EQ(path.ns_of(PathClass::host), 700);
}

/// 100 µs of work on the host, a wait until 900 µs, and 100 µs of work.
std::string with_wait(std::string_view call) {
  return "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
         "0 step 0 1000000 step index=0 lane=main\n"
         "0 runtime 0 100000 cudaMalloc lane=main\n"
         "0 runtime 100000 900000 " +
         std::string{call} +
         " lane=main\n0 runtime 900000 1000000 cudaFree lane=main\n"
         "0 compute 50000 60000 gemm lane=s7\n@link launch 1 4\n";
}

TEST(CriticalPath, AHostThatStandsStillDoesNoWork) {
  for (const char* const call : {"cudaStreamSynchronize", "cudaDeviceSynchronize", "poll"}) {
    const Replayed replayed{with_wait(call)};
    const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
    EXPECT_EQ(path.ns_of(PathClass::gap), 800'000) << call;
    EXPECT_EQ(path.ns_of(PathClass::host), 200'000) << call;
  }
}

TEST(CriticalPath, NamesTheCallIntoCudaAndNotTheSystemCallInsideIt) {
  const Replayed replayed{
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
      "0 step 0 1000 step index=0 lane=main\n0 user 0 600 \"load model\" lane=main\n"
      "0 runtime 100 500 cudaMalloc lane=main\n0 runtime 150 450 ioctl lane=main cat=os_runtime\n"
      "0 runtime 520 580 read lane=main cat=os_runtime\n0 runtime 600 700 cudaLaunchKernel lane=main\n"
      "0 compute 700 1000 gemm lane=s7\n@link launch 5 6\n"};
  const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
  std::map<std::string, std::int64_t> operations;
  for (const PathOperation& operation : path.operations) operations[operation.name] += operation.ns;
  EXPECT_EQ(operations["cudaMalloc"], 400);
  EXPECT_EQ(operations.count("ioctl"), 0U);
  EXPECT_EQ(operations.count("read"), 0U) << "the range says more";
}

TEST(CriticalPath, BehindTheLastEventOfTheHostNobodyKnows) {
  const Replayed replayed{
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
      "0 op 0 300 aten::mm lane=main\n0 runtime 0 100 cudaLaunchKernel lane=main\n"
      "0 compute 100 200 gemm lane=s7\n0 sync 200 1000 \"Context Sync\" lane=s7\n@link launch 1 2\n"};
  const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
  EXPECT_EQ(path.length_ns, 1000);
  EXPECT_EQ(path.ns_of(PathClass::gap), 700);
}

TEST(CriticalPath, SaysWhereItDoesNotKnow) {
  const Replayed replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 100 step index=0
0 forward 0 40 forward
0 wait 40 100 wait
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
)"};
  const CriticalPathSection path = critical_path(*replayed.graph, slack_of(*replayed.graph));
  EXPECT_EQ(path.ns_of(PathClass::wait), 60);
  EXPECT_TRUE(path.incomplete());
}

}  // namespace
}  // namespace rankscope::analyzer::replay
