// Collectives of torch.distributed, called as PyTorch calls them, on a stand-in for libtorch_cpu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/recorded.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string standin(const std::string& kind = "c10d") { return program(kind) + "/libtorch_cpu.so"; }

Recorded play(const Folder& folder, const std::string& scene, const std::string& library = standin(),
              const std::string& version = "2.11.0+cu130") {
  return record(folder, {program("c10d_actor"), scene, library, version});
}

/// "allreduce 1: 400 f32", with "to 6" if it has a root or partner.
std::string text_of(const Run& run, const Collective& one) {
  const std::string peer = one.peer < 0 ? "" : format(" to {}", one.peer);
  return format("{} {}: {} {}{}", run.text(one.op), one.sequence, one.bytes, run.text(one.dtype), peer);
}

std::vector<std::string> collectives_of(const Run& run) {
  std::vector<std::string> texts;
  for (const Collective& one : run.collectives()) texts.push_back(text_of(run, one));
  return texts;
}

/// Where each was carried out.
std::vector<std::string> lanes_of(const Run& run) {
  std::vector<std::string> names;
  for (const Collective& one : run.collectives()) names.emplace_back(run.text(run.lane(one.lane).name));
  return names;
}

TEST(C10d, TellsWhatEachCollectiveIs) {
  const Folder folder;
  const Recorded recorded = play(folder, "collectives");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(
      collectives_of(*recorded.run),
      ElementsAre("broadcast 0: 400 f32 to 4", "allreduce 1: 400 f32", "allreduce 2: 500 f32", "reduce 3: 400 f32 to 5",
                  "allgather 4: 400 f32", "allgather 5: 100 bf16", "gather 6: 400 f32 to 6", "scatter 7: 400 f32 to 4",
                  "reduce_scatter 8: 400 f32", "reduce_scatter 9: 400 f32", "alltoall 10: 800 i64", "barrier 11: 0 ",
                  "allreduce 12: -1 ", "allreduce 13: -1 "));
}

TEST(C10d, TellsTheGroupInTheOrderOfItsMembers) {
  const Folder folder;
  const Recorded recorded = play(folder, "collectives");
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  ASSERT_EQ(run.groups().size(), 1U);
  EXPECT_EQ(run.text(run.groups().front().name), "default_pg 0");
  EXPECT_THAT(run.groups().front().members, ElementsAre(RankId{4}, RankId{6}, RankId{5}));
  EXPECT_EQ(told(run, "pytorch_collectives"), "c10d");
}

TEST(C10d, IsEnqueuedStartedAndFinishedWhereThatHappens) {
  const Folder folder;
  const Recorded recorded = play(folder, "collectives");
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  for (const Collective& one : run.collectives()) {
    EXPECT_EQ(one.state, CommState::finished) << text_of(run, one);
    EXPECT_LE(one.enqueued, one.started);
    EXPECT_LE(one.started, one.finished);
    EXPECT_EQ(run.text(run.lane(one.lane).name), "comm gloo 0");
    EXPECT_EQ(run.lane(one.lane).kind, LaneKind::comm);
    EXPECT_NE(one.lane, one.enqueued_on);
  }
}

TEST(C10d, TakesCallsInsideACallForPartsOfIt) {
  const Folder folder;
  const Recorded recorded = play(folder, "made_of_parts");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(collectives_of(run), ElementsAre("reduce_scatter 0: 400 f32", "barrier 1: 0 "));
  EXPECT_EQ(run.collectives()[0].state, CommState::finished) << "with the last of its parts";
  EXPECT_EQ(run.collectives()[1].lane, run.collectives()[1].enqueued_on) << "the caller carries it out itself";
  EXPECT_EQ(spans_named(run, "wait send"), 0U) << "the barrier waits, not the program for a send";
  EXPECT_EQ(span_named(run, "wait barrier")->kind, SpanKind::wait);
}

TEST(C10d, SendsAndReceivesHaveALaneForEachPartner) {
  const Folder folder;
  const Recorded recorded = play(folder, "pairs");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(collectives_of(run), ElementsAre("send -1: 400 f32 to 9", "recv -1: 400 f32 to 9", "recv -1: 400 f32"));
  EXPECT_THAT(lanes_of(run), ElementsAre("pair 3 send 9", "pair 3 recv 9", "pair 3 recv"));
}

TEST(C10d, ATransferEndsWhenTheTransportHasMovedIt) {
  const Folder folder;
  const Recorded recorded = play(folder, "pairs");
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto rows = recorded.run->collectives();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].state, CommState::finished);
  EXPECT_EQ(rows[1].state, CommState::finished);
  EXPECT_EQ(rows[2].state, CommState::started) << "nothing came";
  EXPECT_GT(rows[0].finished, rows[1].finished) << "the second buffer was done first";
}

TEST(C10d, ABufferOfACollectiveEndsNoReceiveWhoseBufferWasAtThatAddress) {
  const Folder folder;
  const Recorded recorded = play(folder, "abandoned");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  ASSERT_EQ(recorded.run->collectives().size(), 1U);
  EXPECT_EQ(recorded.run->collectives()[0].state, CommState::started) << "nothing came";
}

TEST(C10d, TellsWhereTheHostWaits) {
  const Folder folder;
  const Recorded recorded = play(folder, "waits");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "wait allreduce"), 4U) << "once for the work, and around two buckets of DDP";
  EXPECT_EQ(span_named(*recorded.run, "wait allreduce")->kind, SpanKind::wait);
  EXPECT_EQ(lost(*recorded.run, Counter::spans_unclosed), 0U);
}

TEST(C10d, LetsErrorsPass) {
  const Folder folder;
  const Recorded thrown = play(folder, "throws");
  EXPECT_EQ(thrown.status, 0);
  ASSERT_TRUE(thrown.run) << thrown.why;
  EXPECT_THAT(collectives_of(*thrown.run), ElementsAre("allreduce 0: 400 f32", "allreduce 1: 400 f32"))
      << "a refused call is not counted by the other ranks either";
  EXPECT_EQ(thrown.run->collectives()[0].state, CommState::finished) << "the call that failed is over";
  const Collective& failed = thrown.run->collectives()[1];
  EXPECT_THAT(attributes_of(*thrown.run, thrown.run->span(failed.span)), ElementsAre("failed=1"));
  const Folder other;
  const Recorded waited = play(other, "pairs");
  ASSERT_TRUE(waited.run) << waited.why;
  EXPECT_EQ(lost(*waited.run, Counter::spans_unclosed), 0U) << "a wait that fails has an end";
}

TEST(C10d, AGroupThatIsMadeAgainIsAnotherOne) {
  const Folder folder;
  const Recorded recorded = play(folder, "made_again");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  std::vector<std::string> texts;
  for (const Collective& one : recorded.run->collectives()) {
    const Group& group = recorded.run->groups()[one.group.index()];
    texts.push_back(format("{} of {}: {}", recorded.run->text(group.name), group.members.size(), one.sequence));
  }
  EXPECT_THAT(texts, UnorderedElementsAre("default_pg 0 of 2: 0", "default_pg 0 of 2: 1", "default_pg 0 (2) of 2: 0",
                                          "default_pg 0 (2) of 2: 1", "default_pg 0 of 3: 0", "default_pg 0 of 3: 1",
                                          "default_pg 0 (3) of 2: 0", "default_pg 0 (3) of 2: 1"));
}

TEST(C10d, CountsGroupsThatNobodyNamed) {
  const Folder folder;
  const Recorded recorded = play(folder, "strangers");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(collectives_of(*recorded.run), ElementsAre("allreduce 0: 400 f32"));
  EXPECT_EQ(lost(*recorded.run, Counter::comm_groups_unknown), 2U) << "also where a group was that has ended";
}

TEST(C10d, LeavesOtherVersionsAlone) {
  const Folder folder;
  const Recorded recorded = play(folder, "left_alone", standin(), "9.9.1");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(collectives_of(*recorded.run), IsEmpty());
  EXPECT_EQ(
      told(*recorded.run, "problem"),
      "collectives of the gloo backend are not recorded, since rankscope has not been verified with PyTorch 9.9.1 on "
      "x86-64");
  EXPECT_EQ(lost(*recorded.run, Counter::comm_groups_unknown), 0U);
}

TEST(C10d, LeavesBuildsAloneThatCallTheirOwnFunctionsDirectly) {
  const Folder folder;
  const Recorded recorded = play(folder, "left_alone", standin("c10d_hidden"));
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(collectives_of(*recorded.run), IsEmpty());
  EXPECT_EQ(told(*recorded.run, "problem"),
            "collectives of the gloo backend are not recorded with this build of PyTorch 2.11.0+cu130: it does not "
            "export _ZN4c10d7Reducer17finalize_backwardEv");
}

TEST(C10d, LeavesALibraryAloneThatAnotherToolStandsInFrontOf) {
  const Folder folder;
  const Variable other{"C10D_ACTOR_OTHER_TOOL", "1"};
  const Recorded recorded = play(folder, "left_alone");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "problem"),
            "collectives of the gloo backend are not recorded with this build of PyTorch 2.11.0+cu130: another tool "
            "already intercepts its functions");
}

}  // namespace
}  // namespace rankscope::collectors::testing
