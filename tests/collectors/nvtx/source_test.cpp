// NVTX calls of every kind through the header-only NVTX and the real library, read back from the recording.
#include <gmock/gmock.h>

#include "recorded.h"
#include "support/run_program.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Recorded play(const Folder& folder, const std::vector<std::string>& words) {
  std::vector<std::string> command{program("nvtx_actor")};
  command.insert(command.end(), words.begin(), words.end());
  return record(folder, command);
}

std::string metadata(const Run& run, std::string_view key) {
  return std::string{run.metadata(run.processes()[0], key)};
}

TEST(Nvtx, RangesNestAndTellTheirLevel) {
  const Folder folder;
  const Recorded recorded = play(folder, {"levels"});
  EXPECT_EQ(recorded.status, 0) << "push and pop return levels";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), ElementsAre("outer", "innen \u00e4\u20ac\U0001F600"));
  EXPECT_EQ(recorded.run->spans()[1].depth, 1);
  EXPECT_EQ(recorded.run->spans()[0].kind, SpanKind::user);
}

TEST(Nvtx, StartedRangesMayEndOnAnotherThread) {
  const Folder folder;
  const Recorded recorded = play(folder, {"start_end"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), UnorderedElementsAre("first", "second", "third"));
  EXPECT_EQ(recorded.run->quality().of(Counter::pop_without_push), 0U);
}

TEST(Nvtx, MarksAreMarks) {
  const Folder folder;
  const Recorded recorded = play(folder, {"marks"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(marks_of(*recorded.run), ElementsAre("narrow", "wide", "event"));
}

TEST(Nvtx, CategoryColourAndPayloadAreAttributes) {
  const Folder folder;
  const Recorded recorded = play(folder, {"attributes"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(attributes_of(run, *span_named(run, "described")),
              UnorderedElementsAre("category=io", "color=4279312947", "payload=-5"));
  EXPECT_THAT(attributes_of(run, *span_named(run, "real")), UnorderedElementsAre("category=9", "payload=2.5"));
}

TEST(Nvtx, MarksAndStartedRangesHaveThemToo) {
  const Folder folder;
  const Recorded recorded = play(folder, {"described"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const auto in_domain = UnorderedElementsAre("domain=app", "category=io", "color=4279312947", "payload=2.5");
  const auto in_none = UnorderedElementsAre("category=4", "color=4279312947", "payload=2.5");
  EXPECT_THAT(attributes_of(run, *span_named(run, "range")), in_domain);
  EXPECT_THAT(attributes_of(run, *span_named(run, "of no domain")), in_none);
  ASSERT_THAT(marks_of(run), ElementsAre("mark", "of no domain"));
  EXPECT_THAT(attributes_of(run, run.marks()[0]), in_domain);
  EXPECT_THAT(attributes_of(run, run.marks()[1]), in_none);
}

TEST(Nvtx, DomainsRegisteredStringsAndTheirCategories) {
  const Folder folder;
  const Recorded recorded = play(folder, {"domains"});
  EXPECT_EQ(recorded.status, 0) << "no handle is 0";
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(attributes_of(run, *span_named(run, "registered")),
              UnorderedElementsAre("domain=mine", "category=parse"));
  EXPECT_EQ(spans_named(run, "in wide"), 2U);
  EXPECT_THAT(marks_of(run), ElementsAre("in wide"));
}

TEST(Nvtx, CallsWithoutAttributesOrMessageDoNotEndTheProgram) {
  const Folder folder;
  const Recorded recorded = play(folder, {"nothing_given"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->spans().size(), 9U);
}

TEST(Nvtx, InterleavedDomainsStayBalancedAndAreCounted) {
  const Folder folder;
  const Recorded recorded = play(folder, {"interleaved"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(names_of(run), ElementsAre("of a", "of b", "after"));
  EXPECT_EQ(span_named(run, "after")->depth, 0);
  EXPECT_EQ(run.quality().of(Counter::spans_unclosed), 0U);
  EXPECT_EQ(metadata(run, "nvtx_ranges_interleaved"), "1");
}

TEST(Nvtx, EveryCopyInAProcessIsTaken) {
  const Folder folder;
  const Recorded recorded = play(folder, {"three_copies"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), ElementsAre("own copy", "copy a", "copy b"));
}

TEST(Nvtx, ThreadsHaveTheirNames) {
  const Folder folder;
  const Recorded recorded = play(folder, {"named_thread"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const Span* work = span_named(*recorded.run, "work");
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(recorded.run->text(recorded.run->lane(work->lane).name), "loader 3");
}

TEST(Nvtx, EventsFromDestructorsAreRecorded) {
  const Folder folder;
  const Recorded recorded = play(folder, {"late"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "from a destructor"), 2U) << "of a thread_local object, and of a static one";
}

TEST(Nvtx, AProgramWithoutTheRecorderIsUnchanged) {
  const auto result = rankscope::testing::run_program({program("nvtx_actor"), "without_recorder"});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(Nvtx, TheHookAloneIsEnoughWithoutPreload) {
  const Folder folder;
  const Recorded recorded =
      record(folder, {.command = {program("nvtx_actor"), "pushes", "10"}, .preload = Preload::no});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->spans().size(), 10U);
}

TEST(Nvtx, IsLeftAloneIfNotCollected) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("nvtx_actor"), "without_recorder"}, .collect = "host"});
  EXPECT_EQ(recorded.status, 0) << "NVTX behaves as without a tool";
  EXPECT_FALSE(recorded.run);
}

}  // namespace
}  // namespace rankscope::collectors
