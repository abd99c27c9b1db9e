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

DetailSet set_of(std::initializer_list<Detail> details) {
  DetailSet set;
  for (const Detail detail : details) set.add(detail);
  return set;
}

TEST(Annotate, DetailsAreRecordedWhereTheProgramActsOnThem) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("annotate_actor"), "details"},
                                            .details = set_of({Detail::shapes, Detail::memory, Detail::stack})});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(attributes_of(run, *span_named(run, "addmm")), ElementsAre("input_dims=[[2,3],[]]"));
  ASSERT_THAT(marks_of(run), ElementsAre("[memory]"));
  EXPECT_THAT(attributes_of(run, run.marks()[0]), ElementsAre("bytes=-512"));
  EXPECT_EQ(run.metadata("details_asked"), "shapes,memory,stack");
  EXPECT_EQ(run.metadata("details_recorded"), "shapes,memory");
  EXPECT_THAT(recorded.summary.notes,
              ElementsAre(::testing::HasSubstr("--stack: no call contexts of operators were recorded")));
}

TEST(Annotate, DetailsAreOffUnlessAskedFor) {
  const Folder folder;
  const Recorded recorded = record(folder, {program("annotate_actor"), "details"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_TRUE(attributes_of(*recorded.run, *span_named(*recorded.run, "addmm")).empty());
  EXPECT_TRUE(recorded.run->marks().empty());
  EXPECT_EQ(recorded.run->metadata("details_asked"), "none");
  EXPECT_TRUE(recorded.summary.notes.empty());
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
