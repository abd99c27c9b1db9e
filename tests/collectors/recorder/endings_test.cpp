// Processes end in all manners, fork and exec; nothing that was pushed is lost.
#include <gmock/gmock.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

constexpr std::uint64_t pairs = 20'000;

Recorded play(const Folder& folder, const std::vector<std::string>& words) {
  std::vector<std::string> command{program("nvtx_actor")};
  command.insert(command.end(), words.begin(), words.end());
  command.push_back(std::to_string(pairs));
  return record(folder, command);
}

struct End {
  std::string how;
  int status;
  Ending ending;
};
class EveryEnd : public ::testing::TestWithParam<End> {};

TEST_P(EveryEnd, LosesNothing) {
  const Folder folder;
  const Recorded recorded = play(folder, {"end", GetParam().how});
  EXPECT_EQ(recorded.status, GetParam().status);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "before the end"), pairs);
  EXPECT_EQ(recorded.summary.events_dropped, 0U);
  const Process& process = recorded.run->processes()[0];
  EXPECT_EQ(process.ending, GetParam().ending);
  const bool tells_status = process.ending == Ending::exited;
  EXPECT_EQ(process.exit_status, tells_status ? GetParam().status : 0);
}

INSTANTIATE_TEST_SUITE_P(Endings, EveryEnd,
                         ::testing::Values(End{"exit", 7, Ending::exited}, End{"thread_exit", 8, Ending::exited},
                                           End{"_exit", 5, Ending::vanished}, End{"quick_exit", 6, Ending::vanished},
                                           End{"kill", 137, Ending::vanished}, End{"term", 143, Ending::vanished},
                                           End{"segv", 139, Ending::vanished}, End{"abort", 134, Ending::vanished}),
                         [](const auto& end) { return end.param.how == "_exit" ? "underscore_exit" : end.param.how; });

class EveryFork : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryFork, TheChildWritesItsOwnSegment) {
  if (GetParam() == "clone")
    SKIP_UNDER_THREAD_SANITIZER(
        "ThreadSanitizer does not see a bare clone: in the child, it expects the parent's threads");
  const Folder folder;
  const Recorded recorded = play(folder, {"fork", GetParam()});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  ASSERT_EQ(run.processes().size(), 2U);
  EXPECT_EQ(spans_named(run, "parent"), 2 * pairs);
  EXPECT_EQ(spans_named(run, "child"), pairs);
  EXPECT_EQ(spans_named(run, "around the fork"), 1U);
  EXPECT_NE(run.lane(span_named(run, "parent")->lane).process, run.lane(span_named(run, "child")->lane).process);
  EXPECT_EQ(run.quality().of(Counter::pop_without_push), 0U);
}

TEST_P(EveryFork, AChildThatMayNotBeRecordedLivesOn) {
  const Folder folder;
  const Recorded recorded = record(
      folder,
      {.command = {program("nvtx_actor"), "fork", GetParam(), std::to_string(pairs)}, .follow = Follow::command_only});
  EXPECT_EQ(recorded.status, 0) << "the program checks how its child ended";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "parent"), 2 * pairs);
  EXPECT_EQ(spans_named(*recorded.run, "child"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Forks, EveryFork, ::testing::Values("fork", "clone"));

TEST(Endings, ExecLeavesASegmentOfEachProgram) {
  const Folder folder;
  const Recorded recorded = play(folder, {"exec"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  ASSERT_EQ(recorded.run->processes().size(), 2U);
  EXPECT_EQ(recorded.run->processes()[0].pid, recorded.run->processes()[1].pid);
  EXPECT_EQ(spans_named(*recorded.run, "before exec"), pairs);
  EXPECT_EQ(spans_named(*recorded.run, "even") + spans_named(*recorded.run, "odd"), pairs);
}

TEST(Endings, NoFollowLeavesChildrenAlone) {
  const Folder folder;
  const Recorded recorded =
      record(folder, {.command = {program("nvtx_actor"), "spawn", "10"}, .follow = Follow::command_only});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), ::testing::ElementsAre("in the parent"));
}

TEST(Endings, ThreadsThatComeAndGoLoseNothing) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("nvtx_actor"), "threads", "1000"}, .ring_kib = 65536});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.summary.events_dropped, 0U);
  EXPECT_EQ(spans_named(*recorded.run, "short life"), 1000U);
}

}  // namespace
}  // namespace rankscope::collectors
