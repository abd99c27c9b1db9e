// The payload extension, and NCCL's own payloads.
#include <gmock/gmock.h>

#include "nccl/library.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::UnorderedElementsAre;

Recorded play_payloads(const Folder& folder, const std::vector<std::string>& words) {
  std::vector<std::string> command{program("nvtx_actor")};
  command.insert(command.end(), words.begin(), words.end());
  return record(folder, command);
}

TEST(NvtxPayload, FieldsOfASchemaAreAttributes) {
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"payloads"});
  EXPECT_EQ(recorded.status, 0) << "ids are handed out above 2^32, and the domain is enabled";
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  ASSERT_EQ(run.spans().size(), 2U);
  for (const Span& span : run.spans()) {  // pushed with a message, and by its payload alone
    EXPECT_THAT(attributes_of(run, span),
                UnorderedElementsAre("domain=app", "number=-3", "real=0.5", "text=pointed", "name=inplace", "mode=fast",
                                     "pair[0]=4", "pair[1]=-5", "inner.x=6", "inner.y=-7", "last=200"));
  }
  EXPECT_EQ(run.quality().of(Counter::payloads_undecoded), 0U);
}

TEST(NvtxPayload, MarksAndStartedRangesHaveThemToo) {
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"described_by_payload"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const auto counted = UnorderedElementsAre("domain=app", "number=7");
  EXPECT_THAT(attributes_of(run, *span_named(run, "with payload")), counted);
  EXPECT_THAT(attributes_of(run, *span_named(run, "counted")),
              UnorderedElementsAre("domain=app", "number=7", "payload=text"))
      << "the last of them told by another thread, when the range ended";
  ASSERT_THAT(marks_of(run), ::testing::ElementsAre("with payload", "counted"));
  for (const Mark& mark : run.marks()) EXPECT_THAT(attributes_of(run, mark), counted);
  EXPECT_EQ(run.quality().of(Counter::payloads_undecoded), 0U);
}

TEST(NvtxPayload, ADeferredEventIsAMarkOfItsSubmission) {
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"deferred"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  ASSERT_THAT(marks_of(run), ::testing::ElementsAre("late news"));
  EXPECT_THAT(attributes_of(run, run.marks().front()), UnorderedElementsAre("domain=app", "deferred=1", "begin=42"));
  EXPECT_EQ(run.quality().of(Counter::payloads_undecoded), 0U);
}

TEST(NvtxPayload, AnEnumerationMayBeRegisteredAfterItsSchema) {
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"late_enum"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(attributes_of(run, *span_named(run, "before")), UnorderedElementsAre("domain=app", "mode=1"));
  EXPECT_THAT(attributes_of(run, *span_named(run, "after")), UnorderedElementsAre("domain=app", "mode=slow"));
}

TEST(NvtxPayload, WhatCannotBeDecodedIsCounted) {
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"undecodable"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "undecodable"), 2U);
  EXPECT_EQ(recorded.run->quality().of(Counter::payloads_undecoded), 2U) << "an unknown schema, and one that is cut";
}

TEST(NvtxPayload, ACommunicatorTellsTheRankIfNoVariableDoes) {
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"communicator"});
  EXPECT_EQ(recorded.status, 0) << "NCCL's ids are kept";
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const Span* init = span_named(run, "ncclCommInitRank");
  ASSERT_NE(init, nullptr);
  EXPECT_EQ(init->kind, SpanKind::api);
  EXPECT_THAT(attributes_of(run, *init),
              UnorderedElementsAre("communicator=0xabcdef0123456789", "nranks=8", "rank=3", "device=1"));
  EXPECT_EQ(run.processes()[0].rank, RankId{3});
  EXPECT_EQ(run.info().world_size, 8);
}

TEST(NvtxPayload, AVariableOverrulesTheCommunicator) {
  const Folder folder;
  const Variable rank{"RANK", "1"};
  const Variable world{"WORLD_SIZE", "2"};
  const Recorded recorded = play_payloads(folder, {"communicator"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->processes()[0].rank, RankId{1});
}

// NCCL names its reductions with the first communicator, which needs a GPU: here they are numbers.
// Without a communicator NCCL pushes its range and then refuses: no GPU is needed.
TEST(NvtxPayload, RealNcclTellsOperationBytesAndReduction) {
  const std::string library = nccl_library();
  if (library.empty()) GTEST_SKIP() << no_nccl;
  const Folder folder;
  const Recorded recorded = play_payloads(folder, {"nccl", library});
  if (recorded.status == 77) GTEST_SKIP() << library << " cannot be loaded here";
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const Span* all_reduce = span_named(run, "ncclAllReduce");
  ASSERT_NE(all_reduce, nullptr);
  EXPECT_EQ(all_reduce->kind, SpanKind::api);
  EXPECT_THAT(attributes_of(run, *all_reduce),
              UnorderedElementsAre("op=ncclAllReduce", "communicator=0x0", "bytes=2000", "redop=2"));
  const Span* reduce = span_named(run, "ncclReduce");
  ASSERT_NE(reduce, nullptr);
  EXPECT_THAT(attributes_of(run, *reduce),
              UnorderedElementsAre("op=ncclReduce", "communicator=0x0", "bytes=20", "root=5", "redop=0"));
  EXPECT_EQ(run.quality().of(Counter::payloads_undecoded), 0U);
}

}  // namespace
}  // namespace rankscope::collectors
