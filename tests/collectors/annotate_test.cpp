// The annotation API through the real library.
#include <gmock/gmock.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::ElementsAre;

TEST(Annotate, EverythingSaidIsRead) {
  const Folder folder;
  const Variable rank{"RANK", "1"};
  const Variable world{"WORLD_SIZE", "2"};
  const Recorded recorded = record(folder, {program("annotate_actor")});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const Process& process = run.processes()[0];
  EXPECT_EQ(process.rank, RankId{1});
  EXPECT_EQ(run.metadata(process, "parallel"), "ddp");
  EXPECT_EQ(run.metadata(process, "rank_source"), "RANK");
  EXPECT_EQ(spans_named(run, "step"), 2U);
  EXPECT_EQ(span_named(run, "step")->kind, SpanKind::step);
  EXPECT_THAT(attributes_of(run, *span_named(run, "forward")), ElementsAre("layer=conv1"));
  EXPECT_THAT(marks_of(run), ElementsAre("done"));
  ASSERT_EQ(run.collectives().size(), 2U);
  const Collective& collective = run.collectives()[1];
  EXPECT_EQ(collective.state, CommState::finished);
  EXPECT_EQ(collective.sequence, 1);
  EXPECT_EQ(collective.bytes, 4096);
  EXPECT_EQ(run.text(collective.op), "allreduce");
}

TEST(Annotate, AProgramThatIsNotRecordedIsNotTold) {
  const Folder folder;
  EXPECT_EQ(record(folder, {.command = {program("annotate_actor"), "silent"}, .collect = "nvtx,host"}).status, 0);
}

TEST(Annotate, WorksWithoutPreload) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("annotate_actor")}, .preload = Preload::no});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "step"), 2U);
}

}  // namespace
}  // namespace rankscope::collectors
