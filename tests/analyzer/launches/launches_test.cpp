#include "launches/parts.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "launches/queue_depth.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view launch_lanes =
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n"
    "@lane 0 s9 kind=stream number=9 device=0\n";

Section<LaunchesSection> launches_in(std::string_view text) {
  return launches_of(*run_of(std::string{launch_lanes} + std::string{text}), unavailable("no steps"), {});
}

TEST(Launches, CallDelayAndIssueAreToldPerStreamAndForAll) {
  const auto section = launches_in(
      "0 runtime 0 10 cudaLaunchKernel lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 compute 15 40 a lane=s7\n"
      "0 compute 70 75 b lane=s9\n"
      "@link launch 0 2\n"
      "@link launch 1 3\n");
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->rows.size(), 3U);
  const LaunchRow& all = section->rows[0];
  EXPECT_EQ(all.stream, -1);
  EXPECT_EQ(all.launches, 2U);
  EXPECT_EQ(all.kernels, 2U);
  EXPECT_EQ(all.short_kernels, 1U) << "b took 5 ns, its call 10";
  EXPECT_EQ(all.short_ns, 5);
  EXPECT_EQ(section->rows[1].stream, 7);
  EXPECT_EQ(section->rows[1].delay.median_ns, 5);
  EXPECT_EQ(section->rows[2].delay.median_ns, 40);
  EXPECT_EQ(section->rows[2].issue.median_ns, 50);
}

TEST(Launches, WorkThatBeginsBeforeItsCallReturnsHasNoDelay) {
  const auto section = launches_in(
      "0 runtime 0 10 cudaLaunchKernel lane=main\n"
      "0 compute 5 40 a lane=s7\n"
      "0 runtime 60 70 cudaLaunchKernel lane=main\n"
      "0 compute 50 90 b lane=s7\n"
      "@link launch 0 1\n"
      "@link launch 2 3\n");
  ASSERT_TRUE(section) << section.error().why;
  const LaunchRow& all = section->rows[0];
  EXPECT_EQ(all.began_in_call, 2U);
  EXPECT_EQ(all.began_before_call, 1U);
  EXPECT_EQ(all.delay.p99_ns, 0);
}

TEST(Launches, WhatAGraphStartsIsCountedApart) {
  const auto section = launches_in(
      "0 runtime 0 10 cudaGraphLaunch lane=main\n"
      "0 compute 15 16 a lane=s7\n"
      "0 compute 20 21 b lane=s7\n"
      "0 compute 30 31 c lane=s7\n"
      "@link launch 0 1\n"
      "@link launch 0 2\n");
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->rows[0].in_graphs, 2U);
  EXPECT_FALSE(section->rows[0].has_calls());
  EXPECT_EQ(section->rows[0].without_launch, 1U);
  EXPECT_EQ(section->rows[0].short_kernels, 0U);
}

TEST(Launches, WithoutLaunchCallsThereIsNoSection) {
  const auto section = launches_in("0 compute 0 10 a lane=s7\n");
  ASSERT_FALSE(section);
  EXPECT_EQ(section.error().why, "the recording has no launch calls");
  EXPECT_FALSE(launches_of(*run_of("0 op 0 10 a\n"), unavailable("no steps"), {}));
}

TEST(Launches, APartWithoutAnyIsNotARecordingWithoutAny) {
  const auto run = run_of(std::string{launch_lanes} +
                          "0 step 0 100 step index=0 lane=main\n"
                          "0 runtime 0 10 cudaLaunchKernel lane=main\n"
                          "0 compute 20 40 a lane=s7\n"
                          "0 step 100 200 step index=1 lane=main\n"
                          "0 compute 120 140 b lane=s7\n"
                          "@link launch 1 2\n");
  ReportOptions second;
  second.steps = {1, 1};
  const Report report = analyze(*run, second);
  ASSERT_TRUE(report.steps) << report.steps.error().why;
  ASSERT_FALSE(report.launches);
  EXPECT_EQ(report.launches.error().why, "no work with a recorded launch started in the counted part of the recording");
  EXPECT_TRUE(analyze(*run, {}).launches);
}

TEST(QueueDepthTest, IsWeightedByTimeInsideTheWindows) {
  const std::vector<Queued> queued{{at(0), at(10)}, {at(5), at(30)}, {at(40), at(40)}};
  const IntervalSet busy = IntervalSet::from({{at(10), at(20)}, {at(50), at(60)}});
  const QueueDepth depth = queue_depth(queued, busy, std::vector<TimeRange>{{at(0), at(50)}, {at(50), at(100)}});
  EXPECT_DOUBLE_EQ(depth.mean, (5 * 1 + 5 * 2 + 20 * 1) / 100.0);
  EXPECT_EQ(depth.most, 2);
  EXPECT_EQ(depth.median, 0);
  EXPECT_EQ(depth.p95, 1);
  EXPECT_DOUBLE_EQ(depth.empty_share, 0.7);
  EXPECT_DOUBLE_EQ(depth.empty_and_idle_share, 0.6);
  EXPECT_DOUBLE_EQ(depth.full_share, 0);
}

TEST(QueueDepthTest, NothingInNoTimeIsNothing) {
  EXPECT_DOUBLE_EQ(queue_depth({}, IntervalSet{}, {}).mean, 0);
  EXPECT_DOUBLE_EQ(queue_depth({}, IntervalSet{}, std::vector<TimeRange>{{at(0), at(10)}}).empty_and_idle_share, 1);
}

}  // namespace
}  // namespace rankscope::analyzer
