// --window and --duration: what is stored, and that push and pop stay balanced.
#include <gmock/gmock.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::ElementsAre;

TEST(RecordingWindow, OfNvtxStepsLeavesMarksOutside) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("nvtx_actor"), "steps", "6"}, .window = "1,1,2,1"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), ElementsAre("between", "step 2", "work", "between", "step 3", "work"));
  EXPECT_THAT(marks_of(*recorded.run), ElementsAre("step 0", "step 1", "step 4", "step 5"));
}

TEST(RecordingWindow, OfAnnotatedSteps) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("annotate_actor"), "steps", "5"}, .window = "2,0,1,2"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(names_of(run), ElementsAre("step", "work", "allreduce"));
  EXPECT_EQ(run.collectives().size(), 1U);
  EXPECT_EQ(run.quality().of(Counter::pop_without_push), 0U) << "what the window leaves out is not lost";
  EXPECT_EQ(run.number(run.id_of(*span_named(run, "step")), "index"), 2);
  EXPECT_EQ(run.number(run.id_of(*span_named(run, "work")), "of"), 2) << "attributes stay with their span";
}

TEST(RecordingWindow, RangesOverItsEdgesStayBalanced) {
  const Folder folder;
  const Recorded recorded =
      record(folder, {.command = {program("nvtx_actor"), "open_over_window"}, .window = "1,0,1,1"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(names_of(run), ElementsAre("between", "step 1", "work")) << "'around' began outside";
  EXPECT_EQ(run.quality().of(Counter::spans_unclosed), 0U);
  EXPECT_EQ(run.quality().of(Counter::pop_without_push), 0U);
}

TEST(RecordingWindow, DurationEndsTheRecordingNotTheProgram) {
  const Folder folder;
  const Variable rank{"RANK", "0"};
  const Recorded recorded =
      record(folder, {.command = {"/bin/sh", "-c", "sleep 0.6; exit 3"}, .sample_hz = 50, .duration_s = 0.35});
  EXPECT_EQ(recorded.status, 3);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const Process& process = recorded.run->processes()[0];
  EXPECT_EQ(recorded.run->metadata(process, "stopped_by"), "duration");
  const CounterTrack& track = recorded.run->counters()[0];
  EXPECT_LE(track.sample_count, 20U) << "0.35 s at 50 Hz, not 0.6 s";
}

TEST(RecordingWindow, ASignalSwitchesTheRecordingOnAndOff) {
  const Folder folder;
  const Variable rank{"RANK", "0"};
  RecordOptions options{.command = {program("annotate_actor"), "toggle"}};
  options.toggle = "USR2";
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0) << "it goes on and off, and the signal does not reach the program";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), ElementsAre("while on"));
  EXPECT_EQ(recorded.run->metadata(recorded.run->processes()[0], "toggle"), "signal") << "what is missing is not lost";
  EXPECT_EQ(recorded.run->quality().of(Counter::pop_without_push), 0U);
}

TEST(RecordingWindow, ASignalThatNeverComesIsSaid) {
  const Folder folder;
  RecordOptions options{.command = {program("annotate_actor"), "silent"}};
  options.toggle = "USR1";
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0) << "the program knows that nothing is recorded";
  EXPECT_THAT(recorded.summary.notes, ::testing::Contains(::testing::HasSubstr("SIGUSR1 was never received")));
}

TEST(RecordingWindow, ASignalThatEndsProgramsCannotSwitchIt) {
  const Folder folder;
  RecordOptions options{.command = {"true"}};
  options.toggle = "TERM";
  EXPECT_EQ(record(folder, options).why, "--toggle must be USR1, USR2 or cuda (is \"TERM\")");
}

}  // namespace
}  // namespace rankscope::collectors
