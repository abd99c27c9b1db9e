#include "split/rank_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

TimeSplit split_of(std::string_view text, TimeRange window, RankId rank = RankId{0}) {
  const auto run = run_of(text);
  const Matching matching = match_collectives(*run, ClockTrust(*run));
  return split_windows(layers_of(*run, rank, matching).layers, std::vector{window}).at(0);
}

void expect_sums(const TimeSplit& split, std::int64_t window) {
  EXPECT_EQ(split.window_ns, window);
  EXPECT_EQ(split.compute_ns + split.exposed_comm_ns + split.memory_ns + split.idle_ns, window);
  EXPECT_EQ(split.exposed_comm_ns + split.overlapped_comm_ns, split.comm_ns);
  EXPECT_EQ(split.wait_ns + split.transfer_ns + split.unsplit_ns, split.comm_ns);
  EXPECT_LE(split.exposed_wait_ns + split.exposed_transfer_ns + split.own_comm_delay_ns, split.exposed_comm_ns);
  std::int64_t causes = 0;
  for (const std::int64_t cause : split.idle_causes_ns) causes += cause;
  EXPECT_EQ(causes, split.idle_ns);
}

TEST(Split, TheInnermostClassifiedSpanDecides) {
  const TimeSplit split = split_of(
      "0 step 0 100 step index=0\n"
      "0 backward 10 90 backward\n"
      "0 wait 30 50 wait\n"
      "0 user 60 70 note\n",
      {at(0), at(100)});
  EXPECT_EQ(split.compute_ns, 60) << "backward without the wait; the annotation changes nothing";
  EXPECT_EQ(split.exposed_comm_ns, 20);
  EXPECT_EQ(split.idle_ns_of(IdleCause::host), 20);
  expect_sums(split, 100);
}

TEST(Split, IdleCausesOfACpuRank) {
  const TimeSplit split = split_of(
      "0 data 0 10 data\n"
      "0 op 10 30 op\n"
      "0 sync 30 45 join\n"
      "0 checkpoint 45 60 save\n",
      {at(0), at(60)});
  EXPECT_EQ(split.idle_ns_of(IdleCause::data), 10);
  EXPECT_EQ(split.idle_ns_of(IdleCause::sync), 15);
  EXPECT_EQ(split.idle_ns_of(IdleCause::host), 15) << "a checkpoint is no class of its own";
  EXPECT_EQ(split.idle_for_others_ns, 0);
  expect_sums(split, 60);
}

/// A send as in a trace of PyTorch: it lasts until the program has waited for it, after the next forward pass.
constexpr std::string_view open_send =
    "@run clock=same_host clock_error=1000\n@rank 0\n@rank 1\n@group pp 0,1\n"
    "@lane 0 main kind=thread number=1\n@lane 1 main kind=thread number=1\n"
    "0 comm 0 60 send group=pp peer=1 lane=main\n"
    "0 op 40 55 forward lane=main\n"
    "1 comm 0 10 recv group=pp peer=0 lane=main\n";

TEST(Split, AThreadWorksOnUntilItWaitsForItsSend) {
  const TimeSplit split = split_of(open_send, {at(0), at(60)});
  EXPECT_EQ(split.compute_ns, 15);
  EXPECT_EQ(split.exposed_comm_ns, 45);
  EXPECT_EQ(split.own_ns(), 55) << "only the last 5 ns may have been spent waiting for the send";
  expect_sums(split, 60);
}

TEST(Split, AReceiveThatBlocksTheThreadDuringASendIsNoOwnTime) {
  const TimeSplit split =
      split_of(std::string{open_send} +
                   "0 comm 5 35 recv group=pp peer=1 lane=main\n1 comm 30 33 send group=pp peer=0 lane=main\n",
               {at(0), at(60)});
  EXPECT_EQ(split.own_ns(), 25) << "30 ns were spent in the receive, 5 at the end of the send";
  expect_sums(split, 60);
}

TEST(Split, OnALaneOfCommunicationAloneNothingTellsWhenAThreadWorked) {
  const TimeSplit split = split_of(
      "@run clock=same_host clock_error=1000\n@rank 0\n@rank 1\n@group pp 0,1\n"
      "0 comm 0 60 send group=pp peer=1\n0 comm 5 35 recv group=pp peer=1\n0 op 40 55 forward\n"
      "1 comm 0 10 recv group=pp peer=0\n",
      {at(0), at(60)});
  EXPECT_EQ(split.own_ns(), 15);
}

TEST(Split, ABarrierIsWaitingForOthers) {
  const TimeSplit split = split_of("0 sync 0 20 \"barrier start\"\n0 op 20 30 op\n", {at(0), at(30)});
  EXPECT_EQ(split.idle_for_others_ns, 20);
  EXPECT_EQ(split.own_ns(), 10);
}

TEST(Split, LoaderThreadsAreNoLanes) {
  const TimeSplit split = split_of(
      "0 op 0 10 op\n"
      "0 loader 0 40 decode\n"
      "0 op 10 40 resize lane=loader\n",
      {at(0), at(40)});
  EXPECT_EQ(split.compute_ns, 10);
  EXPECT_EQ(split.idle_ns, 30);
}

constexpr std::string_view overlapping_ranks =
    "@run clock=same_host\n"
    "@group dp 0,1\n"
    "0 op 0 30 op\n"
    "0 comm 10 70 allreduce group=dp\n"
    "0 wait 30 80 wait\n"
    "1 op 0 50 op\n"
    "1 comm 50 70 allreduce group=dp\n";

TEST(Split, ACollectiveWaitsForTheLastRankAndThenMoves) {
  const TimeSplit split = split_of(overlapping_ranks, {at(0), at(100)});
  EXPECT_EQ(split.comm_ns, 70);
  EXPECT_EQ(split.wait_ns, 40);
  EXPECT_EQ(split.transfer_ns, 20);
  EXPECT_EQ(split.unsplit_ns, 10) << "the host was still blocked after the end";
  EXPECT_EQ(split.overlapped_comm_ns, 20);
  EXPECT_EQ(split.exposed_wait_ns, 20);
  EXPECT_EQ(split.exposed_transfer_ns, 20);
  EXPECT_EQ(split.own_comm_delay_ns, 0);
  expect_sums(split, 100);
}

TEST(Split, TimeBeforeALateStartIsTheRanksOwn) {
  const TimeSplit split = split_of(
      "@run clock=same_host\n"
      "@group dp 0,1\n"
      "0 op 0 30 op\n"
      "0 wait 30 80 wait\n"
      "0 comm 60 80 allreduce group=dp enqueued=20\n"
      "1 comm 20 80 allreduce group=dp\n",
      {at(0), at(80)});
  EXPECT_EQ(split.own_comm_delay_ns, 30) << "from the end of compute to the start";
  EXPECT_EQ(split.own_ns(), 60);
  expect_sums(split, 80);
}

TEST(Split, ABusyLaneIsNoDelay) {
  const TimeSplit split = split_of(
      "@run clock=same_host\n"
      "@group dp 0,1\n"
      "0 wait 0 80 wait\n"
      "0 comm 0 40 allreduce group=dp\n"
      "0 comm 40 80 allreduce group=dp enqueued=0\n"
      "1 comm 0 40 allreduce group=dp\n"
      "1 comm 40 80 allreduce group=dp\n",
      {at(0), at(80)});
  EXPECT_EQ(split.own_comm_delay_ns, 0);
  EXPECT_EQ(split.transfer_ns, 80);
}

TEST(Split, AnUnmatchedCollectiveIsUnsplit) {
  const TimeSplit split = split_of("@group dp 0,1\n0 comm 0 40 allreduce group=dp\n0 op 40 50 op\n", {at(0), at(50)});
  EXPECT_EQ(split.unsplit_ns, 40);
  expect_sums(split, 50);
}

TEST(Split, AGroupOfOneDoesNotCommunicate) {
  const TimeSplit split = split_of("@group self 0\n0 comm 0 40 allreduce group=self\n0 op 40 50 op\n", {at(0), at(50)});
  EXPECT_EQ(split.comm_ns, 0);
  EXPECT_EQ(split.memory_ns, 40);
}

TEST(Split, AnAcceleratorHasKernelGapsAndOtherIdleTime) {
  const TimeSplit split = split_of(
      "0 compute 0 20000 gemm\n"
      "0 compute 25000 30000 gemm\n"
      "0 memory 60000 70000 copy\n"
      "0 op 0 70000 op\n",
      {at(0), at(80'000)});
  EXPECT_EQ(split.compute_ns, 25'000);
  EXPECT_EQ(split.memory_ns, 10'000);
  EXPECT_EQ(split.idle_ns_of(IdleCause::kernel_gap), 5'000);
  EXPECT_EQ(split.idle_ns_of(IdleCause::other), 40'000);
  expect_sums(split, 80'000);
}

std::string random_text(std::mt19937& random, bool accelerator) {
  static constexpr std::array host{"op", "forward", "wait", "data", "sync", "user", "checkpoint", "optimizer"};
  static constexpr std::array device{"compute", "memory", "op", "wait", "compute", "data", "sync", "memory"};
  const auto number = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  std::string text = "@run clock=same_host\n@group dp 0,1\n";
  for (int i = 0; i < 40; ++i) {
    const int begin = number(30'000);
    const auto kind = static_cast<std::size_t>(number(8));
    text += format("0 {} {} {} x{}\n", accelerator ? device[kind] : host[kind], begin, begin + number(4'000),
                   i % 5 == 0 && !accelerator ? " lane=worker" : "");
  }
  for (int i = 0; i < 8; ++i) {
    const int begin = number(30'000);
    const int end = begin + number(4'000);
    text += format("0 comm {} {} allreduce group=dp enqueued={}\n", begin, end, begin - number(500));
    if (i % 3 != 0) text += format("1 comm {} {} allreduce group=dp seq={}\n", begin + number(2'000), end + 2'000, i);
  }
  return text;
}

TEST(Split, EverythingAddsUpForRandomSpans) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_text(random, round % 2 == 1);
    const auto run = run_of(text);
    const Layers layers = layers_of(*run, RankId{0}, match_collectives(*run, ClockTrust(*run))).layers;
    const std::vector<TimeRange> windows{{at(-50), at(9'000)}, {at(9'000), at(9'001)}, {at(12'000), at(40'000)}};
    const std::vector<TimeSplit> splits = split_windows(layers, windows);
    for (std::size_t i = 0; i < windows.size(); ++i) expect_sums(splits[i], windows[i].length().count());
    if (HasFailure()) FAIL() << text;
  }
}

TEST(Split, WindowsThatTileGiveTheWhole) {
  std::mt19937 random(11);
  const auto run = run_of(random_text(random, false));
  const Layers layers = layers_of(*run, RankId{0}, match_collectives(*run, ClockTrust(*run))).layers;
  TimeSplit sum;
  for (const TimeSplit& part :
       split_windows(layers, std::vector<TimeRange>{{at(0), at(7)}, {at(7), at(20'000)}, {at(20'000), at(40'000)}}))
    sum += part;
  EXPECT_EQ(sum, split_windows(layers, std::vector<TimeRange>{{at(0), at(40'000)}}).at(0));
}

}  // namespace
}  // namespace rankscope::analyzer
