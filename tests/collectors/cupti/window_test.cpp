// What --window, --duration and --toggle take of CUDA activities, and what CUPTI is asked for meanwhile.
#include <gmock/gmock.h>

#include <string>

#include "cupti/play.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;

RecordOptions toggled_by(const std::string& what) {
  RecordOptions options;
  options.toggle = what;
  return options;
}

TEST(CuptiWindow, AWindowTakesWhatHappenedInItThoughItIsToldLater) {
  const Folder folder;
  RecordOptions options;
  options.window = "1,0,1,1";
  const Recorded recorded = play(folder, "steps", {}, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "kernel of step 0"), 0U);
  EXPECT_EQ(spans_named(*recorded.run, "kernel of step 1"), 1U);
  EXPECT_EQ(spans_named(*recorded.run, "kernel of step 2"), 0U);
}

/// The status of a program that ends once CUPTI is let go, and the kernels that were recorded.
std::pair<int, std::vector<std::string>> outlive(RecordOptions options) {
  const Folder folder;
  const Recorded recorded = play(folder, "outlives", {}, std::move(options));
  if (!recorded.run) return {recorded.status, {recorded.why}};
  std::vector<std::string> kernels;
  for (const std::string& name : names_of(*recorded.run))
    if (name.starts_with("kernel")) kernels.push_back(name);
  return {recorded.status, kernels};
}

TEST(CuptiWindow, AfterTheLastWindowItIsLetGo) {
  RecordOptions options;
  options.window = "1,0,1,1";
  EXPECT_EQ(outlive(options), (std::pair{0, std::vector<std::string>{"kernel of step 1"}}));
}

TEST(CuptiWindow, AfterTheDurationItIsLetGo) {
  RecordOptions options;
  options.duration_s = 0.5;
  EXPECT_EQ(outlive(options),
            (std::pair{0, std::vector<std::string>{"kernel of step 0", "kernel of step 1", "kernel of step 2"}}));
}

TEST(CuptiWindow, BetweenWindowsCallsAreNotAskedForAndWithTheWarmUpTheyAre) {
  const Folder folder;
  RecordOptions options;
  options.window = "2,1,1,2";
  const Recorded recorded = play(folder, "rests", {}, options);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(spans_named(run, "inside"), 2U);
  EXPECT_EQ(spans_named(run, "outside"), 0U);
  EXPECT_EQ(spans_of_kind(run, SpanKind::runtime), 2U);
  EXPECT_EQ(told(run, "cupti_calls_late"), "");
}

TEST(CuptiWindow, WhileASignalHasSwitchedItOffCallsAreNotAskedFor) {
  const Folder folder;
  const Recorded recorded = play(folder, "switched", {}, toggled_by("USR2"));
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "inside"), 1U);
  EXPECT_EQ(spans_named(*recorded.run, "outside"), 0U);
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::runtime), 1U);
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_calls_late")}, HasSubstr("ms after recording was turned on"));
}

/// What each wait on an event says of the stream that recorded it, in a window of the second step.
std::vector<std::string> streams_waited_for(const char* version) {
  const Folder folder;
  RecordOptions options;
  options.window = "1,0,1,1";
  const Recorded recorded = play(folder, "events", {.version = version}, options);
  std::vector<std::string> streams;
  if (!recorded.run) return {recorded.why};
  for (const Span& span : recorded.run->spans()) {
    if (span.kind != SpanKind::sync) continue;
    const auto told = attributes_of(*recorded.run, span);
    streams.emplace_back(std::ranges::find(told, "wait_on_stream=7") != told.end() ? "stream 7" : "unknown");
  }
  return streams;
}

TEST(CuptiWindow, AWindowLeavesOutEventsOfOtherStepsThoughTheyHaveNoTimes) {
  for (const char* version : {"24", "28", "130001"})  // their times on the device would cost
    EXPECT_THAT(streams_waited_for(version), ::testing::ElementsAre("unknown", "stream 7")) << version;
}

TEST(CuptiWindow, TheProgramSwitchesTheRecordingWithCudaProfilerStartAndStop) {
  const Folder folder;
  for (const char* const scene : {"profiled", "profiled late"}) {  // late: nothing was asked for in a long time
    RecordOptions options = toggled_by("cuda");
    options.out = folder / (std::string{scene} + ".rankscope");
    const Recorded recorded = play(folder, scene, {}, options);
    EXPECT_EQ(recorded.status, 0);
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_THAT(names_of(*recorded.run), ::testing::ElementsAre("between")) << scene;
    EXPECT_THAT(marks_of(*recorded.run), ::testing::ElementsAre("between")) << scene;
    EXPECT_THAT(recorded.summary.notes, ::testing::IsEmpty()) << scene;
  }
}

TEST(CuptiWindow, AProgramThatNeverStartsTheProfilerIsTold) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {}, toggled_by("cuda"));
  EXPECT_EQ(recorded.status, 0);
  EXPECT_THAT(recorded.summary.notes, Contains(HasSubstr("--toggle cuda: no call to cudaProfilerStart was seen")));
}

}  // namespace
}  // namespace rankscope::collectors
