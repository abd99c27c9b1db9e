#include "steps/find.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "steps/parts.h"

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

/// A stream with two kernels that were launched before the recording, and `launched` that were not: 10 ns each from 300
/// on, half of them launched in each of two steps.
std::string leftovers(int launched, std::string_view marks =
                                        "0 step 10 200 step index=4 lane=main\n"
                                        "0 step 200 400 step index=5 lane=main\n") {
  std::string text =
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n" + std::string{marks};
  const auto first = static_cast<int>(std::ranges::count(marks, '\n'));
  for (int i = 0; i < launched; ++i) {
    const int begin = (2 * i < launched ? 20 : 220) + 2 * (i % (launched / 2));
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", begin, begin + 1);
  }
  text += "0 compute 0 150 old lane=s7\n0 compute 150 300 old lane=s7\n";
  for (int i = 0; i < launched; ++i) text += format("0 compute {} {} new lane=s7\n", 300 + 10 * i, 310 + 10 * i);
  for (int i = 0; i < launched; ++i) text += format("@link launch {} {}\n", first + i, first + launched + 2 + i);
  return text;
}

TEST(Steps, TheFirstBeginsWhenWhatWasLaunchedBeforeTheRecordingHasEnded) {
  const StepsResult result = steps_of(leftovers(20));
  ASSERT_TRUE(result.section);
  const auto windows = windows_of(*result.section, RankId{0});
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].window, (TimeRange{at(300), at(400)}));
  EXPECT_EQ(windows[1].window, (TimeRange{at(400), at(500)}));
  EXPECT_EQ(result.section->leftovers_ns, 290);
}

TEST(Steps, KernelsWhoseLaunchesAreMissingThroughoutDelayNoStep) {
  const StepsResult result =
      steps_of(leftovers(20) + "0 compute 500 510 graph lane=s7\n0 compute 510 520 graph lane=s7\n");
  ASSERT_TRUE(result.section);
  EXPECT_EQ(windows_of(*result.section, RankId{0})[0].window.begin, at(10));
  EXPECT_EQ(result.section->leftovers_ns, 0);
}

TEST(Steps, FewRecordedLaunchesDoNotShowThatWhatLacksOneIsLeftOver) {
  const StepsResult result = steps_of(leftovers(18));
  ASSERT_TRUE(result.section);
  EXPECT_EQ(windows_of(*result.section, RankId{0})[0].window.begin, at(10));
  EXPECT_EQ(result.section->leftovers_ns, 0);
}

/// `without` kernels of 10 ns each without a launch, then `with` that have one; four steps of 100 ns.
std::string mostly_without_launches(int without, int with) {
  std::string text = "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  for (int step = 0; step < 4; ++step)
    text += format("0 step {} {} step index={} lane=main\n", 100 * step, 100 * step + 100, step);
  for (int i = 0; i < without; ++i)
    text += format("0 compute {} {} graph lane=s7\n", 400 * i / without, 400 * i / without + 1);
  for (int i = 0; i < with; ++i)
    text += format("0 runtime {} {} cudaMemcpyAsync lane=main\n", 390 + i / 4, 391 + i / 4);
  for (int i = 0; i < with; ++i) text += format("0 memory {} {} copy lane=s7\n", 400 + i, 401 + i);
  for (int i = 0; i < with; ++i) text += format("@link launch {} {}\n", 4 + without + i, 4 + without + with + i);
  return text;
}

TEST(Steps, MoreWorkThanFollowsIsNotLeftOver) {
  for (const int with : {1, 20, 100}) {  // the last ones outweigh it, and it outlasts most steps all the same
    const StepsResult result = steps_of(mostly_without_launches(40, with));
    ASSERT_TRUE(result.section) << with;
    EXPECT_EQ(result.section->leftovers_ns, 0) << with;
    EXPECT_TRUE(result.section->counted(0)) << with;
    EXPECT_EQ(windows_of(*result.section, RankId{0})[0].window, (TimeRange{at(0), at(100)})) << with;
  }
}

TEST(Steps, AStepThatIsOverBeforeTheLeftoversIsPartial) {
  std::string text = leftovers(20, "0 step 10 15 step index=4 lane=main\n0 step 15 400 step index=5 lane=main\n");
  const StepsResult result = steps_of(text);
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

TEST(Steps, ASlowFirstQuarterOfALongRunIsNoWarmUp) {
  std::string text;
  std::int64_t end = 0;
  for (int index = 0; index < 1200; ++index) {
    const std::int64_t begin = std::exchange(end, end + (index < 200 ? 300 : 100));
    text += format("0 step {} {} step index={}\n", begin, end, index);
  }
  const StepsResult result = steps_of(text);
  ASSERT_TRUE(result.section);
  EXPECT_TRUE(result.section->steps[99].warm_up);
  EXPECT_FALSE(result.section->steps[100].warm_up) << "at most 100 steps, although a fifth would be 240";
}

TEST(Steps, WarmUpStaysWhenAskedFor) {
  ReportOptions options;
  options.include_warm_up = true;
  EXPECT_TRUE(steps_of(slow_start, options).section->counted(0));
}

TEST(Steps, AMeanFarFromTheMedianIsAlwaysSaid) {
  StepsSection section;
  for (const std::int64_t ms : {200, 258, 1500})
    section.steps.push_back({std::ssize(section.steps), {}, ms * 1'000'000, true, false});
  section.median_ns = 258'000'000;
  section.mean_ns = 280'000'000;
  EXPECT_EQ(steps_text(section, StepSpread::none), " · 3 steps of 258 ms");
  section.mean_ns = 785'000'000;
  EXPECT_EQ(steps_text(section, StepSpread::none), " · 3 steps of 258 ms (median; mean 785 ms)");
  section.source = "step spans";
  section.steps.front().warm_up = true;
  Report report;
  report.steps = section;
  EXPECT_EQ(steps_source(report),
            "Steps taken from step spans: 3 complete, 0 partial; 1 warm-up step left out, 2 counted.");
}

TEST(Steps, OfFewTheShortestAndTheLongestAreShown) {
  StepsSection section;
  for (const std::int64_t ms : {346, 365, 346, 344, 336})
    section.steps.push_back({std::ssize(section.steps), {}, ms * 1'000'000, true, false});
  section.median_ns = section.mean_ns = 346'000'000;
  EXPECT_EQ(steps_text(section), " · 5 steps of 346 ms (336 ms to 365 ms)");
  while (section.steps.size() < 10) section.steps.push_back({std::ssize(section.steps), {}, 346'000'000, true, false});
  section.p90_ns = 348'000'000;
  EXPECT_EQ(steps_text(section), " · 10 steps of 346 ms (90 % within 348 ms, jitter 0.0 %)");
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

TEST(Steps, NoneFollowsTheLargestIndex) {
  const StepsResult result = steps_of(
      "0 step 0 90 step index=9223372036854775807\n"
      "0 step 100 190 step index=3\n");
  ASSERT_TRUE(result.section) << result.section.error().why;
  ASSERT_EQ(result.section->steps.size(), 1U);
  EXPECT_EQ(result.section->steps[0].index, std::numeric_limits<std::int64_t>::max());
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
