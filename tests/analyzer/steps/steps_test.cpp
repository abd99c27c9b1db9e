#include "steps/find.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

StepsResult steps_of(std::string_view text, const ReportOptions& options = {}) {
  const auto run = run_of(text);
  return find_steps(*run, ClockTrust(*run), options);
}

TEST(Steps, WindowsOfARankTileFromMarkToMark) {
  const StepsResult result = steps_of(
      "0 step 0 90 step index=0\n"
      "0 step 100 180 step index=1\n");
  ASSERT_TRUE(result.section);
  const auto windows = windows_of(*result.section, RankId{0});
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].window, (TimeRange{at(0), at(100)}));
  EXPECT_EQ(windows[1].window, (TimeRange{at(100), at(180)})) << "the last one ends with its mark";
  EXPECT_TRUE(windows[1].complete);
}

TEST(Steps, AStepOfTheJobBeginsWithTheLastRank) {
  const StepsResult result = steps_of(
      "@run clock=same_host\n"
      "0 step 0 90 step index=0\n0 step 100 190 step index=1\n"
      "1 step 5 95 step index=0\n1 step 120 210 step index=1\n");
  ASSERT_TRUE(result.section);
  EXPECT_EQ(result.section->steps[0].time, (TimeRange{at(5), at(120)}));
  EXPECT_EQ(result.section->steps[1].time, (TimeRange{at(120), at(210)}));
}

TEST(Steps, ClocksThatAreWrongByAShareOfAStepDoNotMeasureIt) {
  const auto refused = [](std::int64_t length_ns) {
    const StepsResult result =
        steps_of(format("@run clock=unit_ends clock_error=1000000\n"
                        "0 step 0 {0} step index=0\n1 step 800000 {1} step index=0\n",
                        length_ns, 800'000 + length_ns));
    return result.section && result.section->clocks_refused;
  };
  EXPECT_TRUE(refused(10'000'000)) << "2 ms of 10";
  EXPECT_FALSE(refused(100'000'000));
}

TEST(Steps, WithoutACommonClockTheLongestWindowIsTheWall) {
  const StepsResult result = steps_of(
      "@rank 0 host=a\n@rank 1 host=b\n"
      "0 step 0 90 step index=0\n"
      "1 step 5000 5120 step index=0\n");
  ASSERT_TRUE(result.section);
  EXPECT_TRUE(result.section->clocks_refused);
  EXPECT_EQ(result.section->steps[0].wall_ns, 120);
  EXPECT_EQ(result.section->steps[0].time, (TimeRange{at(0), at(90)}));
}

TEST(Steps, ACutMarkMakesTheStepPartial) {
  const StepsResult result = steps_of(
      "@run clock=same_host\n"
      "0 step 0 90 step index=0\n0 step 100 190 step index=1\n"
      "1 step 0 95 step index=0\n1 step 100 130 step index=1 cut=end\n");
  ASSERT_TRUE(result.section);
  EXPECT_TRUE(result.section->counted(0));
  EXPECT_FALSE(result.section->counted(1));
  EXPECT_EQ(result.quality.of(Counter::steps_partial), 1U);
}

/// A stream whose first kernels were launched before the recording: they run from 0 to 300, in a step that is marked
/// from 10 to 200 and launches from 20 on.
constexpr std::string_view leftovers =
    "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
    "0 step 10 200 step index=4 lane=main\n0 step 200 400 step index=5 lane=main\n"
    "0 runtime 20 25 cudaLaunchKernel lane=main\n0 runtime 220 225 cudaLaunchKernel lane=main\n"
    "0 compute 0 150 old lane=s7\n0 compute 150 300 old lane=s7\n"
    "0 compute 300 390 new lane=s7\n0 compute 390 480 new lane=s7\n"
    "@link launch 2 6\n@link launch 3 7\n";

TEST(Steps, TheFirstBeginsWhenWhatWasLaunchedBeforeTheRecordingHasEnded) {
  const StepsResult result = steps_of(leftovers);
  ASSERT_TRUE(result.section);
  const auto windows = windows_of(*result.section, RankId{0});
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].window, (TimeRange{at(300), at(390)}));
  EXPECT_EQ(windows[1].window, (TimeRange{at(390), at(480)}));
  EXPECT_EQ(result.section->leftovers_ns, 290);
}

TEST(Steps, KernelsWhoseLaunchesAreMissingThroughoutDelayNoStep) {
  const StepsResult result = steps_of(std::string{leftovers} + "0 compute 480 490 graph lane=s7\n");
  ASSERT_TRUE(result.section);
  EXPECT_EQ(windows_of(*result.section, RankId{0})[0].window.begin, at(10));
  EXPECT_EQ(result.section->leftovers_ns, 0);
}

TEST(Steps, AStepThatIsOverBeforeTheLeftoversIsPartial) {
  const StepsResult result = steps_of(
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
      "0 step 10 200 step index=4 lane=main\n0 step 200 400 step index=5 lane=main\n"
      "0 runtime 220 225 cudaLaunchKernel lane=main\n"
      "0 compute 0 300 old lane=s7\n0 compute 300 390 new lane=s7\n@link launch 2 4\n");
  ASSERT_TRUE(result.section);
  EXPECT_FALSE(result.section->counted(4));
  EXPECT_TRUE(result.section->counted(5));
  EXPECT_EQ(result.quality.of(Counter::steps_partial), 1U);
}

TEST(Steps, OnlyCommonStepsCount) {
  const StepsResult result = steps_of(
      "@run clock=same_host\n"
      "0 step 0 90 step index=4\n0 step 100 190 step index=5\n"
      "1 step 100 195 step index=5\n");
  ASSERT_TRUE(result.section);
  ASSERT_EQ(result.section->steps.size(), 1U);
  EXPECT_EQ(result.section->steps[0].index, 5);
  EXPECT_EQ(result.quality.of(Counter::steps_uneven), 1U);
}

constexpr std::string_view slow_start =
    "0 step 0 500 step index=0\n0 step 500 600 step index=1\n0 step 600 700 step index=2\n"
    "0 step 700 800 step index=3\n0 step 800 900 step index=4\n0 step 900 1000 step index=5\n";

TEST(Steps, ALongFirstStepIsWarmUp) {
  const StepsResult result = steps_of(slow_start);
  ASSERT_TRUE(result.section);
  EXPECT_TRUE(result.section->steps[0].warm_up);
  EXPECT_FALSE(result.section->steps[1].warm_up);
  EXPECT_EQ(counted_steps(*result.section).size(), 5U);
  EXPECT_EQ(result.section->median_ns, 100);
  EXPECT_EQ(result.quality.of(Counter::warmup_excluded), 1U);
}

TEST(Steps, WarmUpStaysWhenAskedFor) {
  ReportOptions options;
  options.include_warm_up = true;
  EXPECT_TRUE(steps_of(slow_start, options).section->counted(0));
}

TEST(Steps, ARangeOfStepsCanBeAskedFor) {
  ReportOptions options;
  options.steps = {2, 3};
  const StepsResult result = steps_of(slow_start, options);
  ASSERT_TRUE(result.section);
  EXPECT_EQ(counted_steps(*result.section), (std::vector<std::int64_t>{2, 3}));
}

TEST(Steps, AGapInTheIndicesEndsAWindow) {
  const StepsResult result = steps_of(
      "0 step 0 90 step index=1\n"
      "0 step 5000 5090 step index=7\n");
  ASSERT_TRUE(result.section);
  EXPECT_EQ(windows_of(*result.section, RankId{0})[0].window, (TimeRange{at(0), at(90)}));
}

TEST(Steps, WithoutMarksItIsSaidHowToGetThem) {
  const StepsResult result = steps_of("0 op 0 90 matmul\n");
  ASSERT_FALSE(result.section);
  EXPECT_NE(result.section.error().why.find("no step marks"), std::string::npos);
}

TEST(Steps, RangesNamedLikeAStepStandInForStepSpans) {
  const StepsResult result = steps_of(
      "0 user 0 10 \"step 3\"\n0 user 10 20 Step_4\n0 user 12 14 stepper\n0 user 14 16 step_forward\n"
      "1 user 1 11 ProfilerStep#3\n1 user 11 21 \"iteration 4\"\n");
  ASSERT_TRUE(result.section) << result.section.error().why;
  EXPECT_EQ(result.section->source, "ranges named like a step");
  ASSERT_EQ(result.section->steps.size(), 2U);
  EXPECT_EQ(result.section->steps[0].index, 3);
  EXPECT_EQ(result.section->steps[1].index, 4);
}

}  // namespace
}  // namespace rankscope::analyzer
