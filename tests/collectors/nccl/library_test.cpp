// The real libnccl: what it makes of our profiler plugin, and what we make of what it tells. No GPU is needed: NCCL's
// own code that finds plugins and fills in their descriptors is called from outside (programs/nccl_caller.cpp).
#include "nccl/library.h"

#include <gmock/gmock.h>

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

#define SKIP_WITHOUT_NCCL(played)                      \
  if (nccl_library().empty()) GTEST_SKIP() << no_nccl; \
  if ((played).status == cannot_be_tried) GTEST_SKIP() << (played).said

TEST(NcclLibrary, TakesTheNewestInterfaceThatItKnowsFromThePlugin) {
  const Folder folder;
  const Played played = play(folder, "operations", "kernel,proxy");
  SKIP_WITHOUT_NCCL(played);
  EXPECT_EQ(played.status, 0) << played.said;
  EXPECT_THAT(played.said, HasSubstr("PROFILER/Plugin: Loaded rankscope (v5)"));
  constexpr int p2p = 1 << 1 | 1 << 2 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12;
  EXPECT_THAT(played.said, HasSubstr("mask " + std::to_string(p2p | 1 << 3 | 1 << 4 | 1 << 6)));
  EXPECT_THAT(played.said, HasSubstr("Closing profiler plugin rankscope"));
}

TEST(NcclLibrary, IntroducesACommunicatorWithItsNameAndTheRankOfTheProcess) {
  const Folder folder;
  const Played played = play(folder, "operations", "p2p");
  SKIP_WITHOUT_NCCL(played);
  ASSERT_TRUE(played.run) << played.why;
  const auto& run = *played.run;
  EXPECT_EQ(run.processes()[0].rank, RankId{1}) << "of 2, without a variable that tells it";
  EXPECT_EQ(run.info().world_size, 2);
  EXPECT_EQ(run.metadata(run.processes()[0], "nccl_profiler_version"), "5");
  const auto reduces = spans_of_nccl(run, "allreduce");
  ASSERT_THAT(reduces, SizeIs(2));
  EXPECT_EQ(run.text(run.lane(reduces[0]->lane).name), "NCCL communicator 0xfedcba9876543210");
  EXPECT_THAT(attributes_of(run, *reduces[0]), Contains("communicator_name=mine"));
}

TEST(NcclLibrary, ItsDescriptorsOfCollectivesAreRead) {
  const Folder folder;
  const Played played = play(folder, "operations", "kernel");
  SKIP_WITHOUT_NCCL(played);
  ASSERT_TRUE(played.run) << played.why;
  const auto& run = *played.run;
  const auto reduces = spans_of_nccl(run, "allreduce");
  ASSERT_THAT(reduces, SizeIs(2));
  EXPECT_THAT(attributes_of(run, *reduces[0]),
              IsSupersetOf({"algorithm=RING", "protocol=LL128", "channels=24", "nccl_sequence=0"}));
  EXPECT_THAT(attributes_of(run, *reduces[1]),
              IsSupersetOf({"algorithm=NVLS", "protocol=SIMPLE", "channels=24", "nccl_sequence=1"}));
  ASSERT_EQ(run.collectives().size(), 1U) << "of the others nobody told when they ran";
  const Collective& timed = run.collectives()[0];
  EXPECT_EQ(run.text(timed.op), "allreduce");
  EXPECT_EQ(run.text(timed.dtype), "bf16");
  EXPECT_EQ(timed.bytes, 4000);
  EXPECT_EQ(timed.sequence, 1);
  EXPECT_NEAR(static_cast<double>((timed.finished - timed.started).count()), 60'000, 60) << "as its channel ran";
}

TEST(NcclLibrary, ItsSendsAndItsProxyOperationsAreRead) {
  const Folder folder;
  const Played played = play(folder, "operations", "proxy");
  SKIP_WITHOUT_NCCL(played);
  ASSERT_TRUE(played.run) << played.why;
  const auto& run = *played.run;
  EXPECT_THAT(spans_of_nccl(run, "send"), SizeIs(1));
  EXPECT_THAT(spans_of_nccl(run, "allgather"), SizeIs(1));
  const Span* const sent = span_named(run, "proxy send");
  ASSERT_NE(sent, nullptr) << "it is known by the function that moves it on";
  const auto attributes = attributes_of(run, *sent);
  EXPECT_THAT(attributes,
              IsSupersetOf({"channel=5", "peer=0", "planned_steps=4", "chunk_bytes=4096", "steps=1", "bytes=4096"}));
  for (const char* const wait : {"own_gpu_wait_ns=", "peer_wait_ns=", "transfer_ns="})
    EXPECT_THAT(attributes, Contains(HasSubstr(wait)));
  for (const Counter counter : {Counter::activities_unknown, Counter::comm_events_dropped, Counter::events_dropped})
    EXPECT_EQ(run.quality().of(counter), 0U) << info_of(counter).name;
}

TEST(NcclLibrary, AnOperationThatTheProgramItsCallAndThePluginTellOfIsOne) {
  const Folder folder;
  const Played played = play(folder, "announced", "kernel");
  SKIP_WITHOUT_NCCL(played);
  EXPECT_EQ(played.status, 0) << played.said;
  ASSERT_TRUE(played.run) << played.why;
  const auto& run = *played.run;
  const Span* const call = span_named(run, "ncclAllReduce");
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->kind, SpanKind::api) << "a range of the host, and no collective";
  ASSERT_THAT(run.collectives(), SizeIs(1));
  const Collective& one = run.collectives()[0];
  EXPECT_EQ(run.text(run.groups()[one.group.index()].name), "world");
  EXPECT_EQ(one.sequence, 0);
  EXPECT_EQ(one.bytes, 4000);
  EXPECT_EQ(run.text(one.dtype), "bf16");
  EXPECT_NEAR(static_cast<double>((one.finished - one.started).count()), 60'000, 60) << "as its channel ran";
  EXPECT_THAT(attributes_of(run, run.span(one.span)),
              IsSupersetOf({"algorithm=NVLS", "communicator=communicator 0xfedcba9876543210"}));
}

TEST(NcclLibrary, ThePayloadOfEachOfItsCallsIsDecoded) {
  const Folder folder;
  const Played played = play(folder, "calls", "p2p");
  SKIP_WITHOUT_NCCL(played);
  EXPECT_EQ(played.status, 0) << played.said;
  ASSERT_TRUE(played.run) << played.why;
  const auto& run = *played.run;
  const auto told = [&](const std::string& name) {
    const Span* const span = span_named(run, name);
    return span == nullptr ? std::vector<std::string>{"no span " + name} : attributes_of(run, *span);
  };
  const auto says = [](const std::string& name, const auto&... more) {
    return UnorderedElementsAre("op=" + name, "communicator=0xfedcba9876543210", more...);
  };
  EXPECT_THAT(told("ncclAllReduce"), says("ncclAllReduce", "bytes=200", "redop=2"));
  EXPECT_THAT(told("ncclReduceScatter"), says("ncclReduceScatter", "bytes=400", "redop=0"));
  EXPECT_THAT(told("ncclReduce"), says("ncclReduce", "bytes=200", "root=5", "redop=3"));
  EXPECT_THAT(told("ncclBroadcast"), says("ncclBroadcast", "bytes=400", "root=6"));
  EXPECT_THAT(told("ncclAllGather"), says("ncclAllGather", "bytes=400"));
  EXPECT_THAT(told("ncclAlltoAll"), says("ncclAlltoAll", "bytes=400"));
  EXPECT_THAT(told("ncclGather"), says("ncclGather", "bytes=400", "root=7"));
  EXPECT_THAT(told("ncclScatter"), says("ncclScatter", "bytes=400", "root=4"));
  EXPECT_THAT(told("ncclSend"), says("ncclSend", "bytes=200", "peer=3"));
  EXPECT_THAT(told("ncclRecv"), says("ncclRecv", "bytes=200", "peer=2"));
  EXPECT_EQ(run.quality().of(Counter::payloads_undecoded), 0U);
}

}  // namespace
}  // namespace rankscope::collectors
