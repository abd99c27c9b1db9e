#include "launches/local.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/synthetic_run.h"
#include "launches/merge.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;
using DepthMap = std::map<std::int64_t, std::int64_t>;

const std::vector<StepWindow> launch_steps{{RankId{0}, 0, {at(0), at(100)}, true},
                                           {RankId{0}, 1, {at(100), at(200)}, true}};

/// The first kernel is launched in step 0 and begins in step 1.
constexpr std::string_view two_kernels =
    "@rank 0 pid=1 host=n0 recorded=0:200\n@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n"
    "0 runtime 80 90 cudaLaunchKernel lane=main\n0 compute 120 125 a lane=s7\n"
    "0 runtime 140 150 cudaLaunchKernel lane=main\n0 compute 150 190 b lane=s7\n"
    "@link launch 0 1\n@link launch 2 3\n";

TEST(LocalLaunches, AreOfTheCellInWhichTheWorkBegins) {
  const LaunchesPart part =
      LocalLaunches{*run_of(two_kernels)}.of(RankId{0}, TimeCells{{at(0), at(200)}, launch_steps});
  EXPECT_TRUE(part.any_launch);
  ASSERT_EQ(part.streams.size(), 1U);
  EXPECT_EQ(part.streams[0].stream, 7);
  ASSERT_EQ(part.streams[0].begun.size(), 1U);
  const LaunchesPart::Begun& begun = part.streams[0].begun[0];
  EXPECT_EQ(begun.cell, 2U);
  EXPECT_EQ(begun.launches, 2U);
  EXPECT_EQ(begun.short_kernels, 1U) << "5 ns of work for a call of 10";
  EXPECT_EQ(begun.delays, (std::vector<std::int64_t>{0, 30}));
  EXPECT_EQ(part.all.begun, part.streams[0].begun) << "there is no other stream";
}

TEST(LocalLaunches, TheQueueIsMeasuredInEachCell) {
  const LaunchesPart part =
      LocalLaunches{*run_of(two_kernels)}.of(RankId{0}, TimeCells{{at(0), at(200)}, launch_steps});
  ASSERT_EQ(part.all.queued.size(), 2U);
  EXPECT_EQ(part.all.queued[0].ns_at, (DepthMap{{0, 80}, {1, 20}}));
  EXPECT_EQ(part.all.queued[0].empty_and_idle_ns, 80);
  EXPECT_EQ(part.all.queued[1].ns_at, (DepthMap{{0, 70}, {1, 30}}));
  EXPECT_EQ(part.all.queued[1].empty_and_idle_ns, 25) << "125 to 140, and 190 to 200";
}

TEST(LaunchesMerge, CountsWhatBeganInTheCountedSteps) {
  const TimeCells cells{{at(0), at(200)}, launch_steps};
  const LaunchesPart part = LocalLaunches{*run_of(two_kernels)}.of(RankId{0}, cells);
  LaunchesMerge first;
  first.add({RankId{0}, cells, {{launch_steps[0].window}, 1}}, part);
  const auto none = std::move(first).finish(why_no_launches(Launches::recorded));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().why, "no work with a recorded launch started in the counted part of the recording");
  LaunchesMerge second;
  second.add({RankId{0}, cells, {{launch_steps[1].window}, 1}}, part);
  const auto found = std::move(second).finish(why_no_launches(Launches::recorded));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rows.size(), 2U) << "all streams, and the only one";
  EXPECT_EQ(found->rows[1].launches, 2U);
  EXPECT_DOUBLE_EQ(found->rows[1].queue.mean, 0.3);
}

}  // namespace
}  // namespace rankscope::analyzer
