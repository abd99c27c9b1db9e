// NCCL's profiler plugin, called as NCCL calls it.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Recorded play_scene(const Folder& folder, const std::string& scene, int version, const std::string& level = {}) {
  RecordOptions options{.command = {program("nccl_actor"), scene, std::to_string(version), "2"}};
  options.nccl = level;
  return record(folder, options);
}

std::vector<const Span*> spans_of_rank(const Run& run, RankId rank, std::string_view name) {
  std::vector<const Span*> found;
  for (const Span& span : run.spans())
    if (run.lane(span.lane).rank == rank && run.text(span.name) == name) found.push_back(&span);
  return found;
}

class EveryVersion : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NcclPlugin, EveryVersion, ::testing::Range(1, 8));

TEST_P(EveryVersion, OperationsCarryWhatNcclSays) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "operations", GetParam());
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const auto reduces = spans_of_rank(run, RankId{1}, "allreduce");
  ASSERT_EQ(reduces.size(), 3U);
  const Span& last = *reduces.back();
  EXPECT_EQ(run.lane(last.lane).kind, LaneKind::comm);
  EXPECT_EQ(run.text(run.lane(last.lane).name), "NCCL communicator 0xfedcba9876543210");
  const auto attributes = attributes_of(run, last);
  for (const char* one : {"algorithm=RING", "protocol=SIMPLE", "channels=3", "nccl_sequence=2"})
    EXPECT_THAT(attributes, Contains(one));
  if (GetParam() == 4) {
    EXPECT_THAT(attributes, Contains("communicator_name=mine"));
  }
  EXPECT_EQ(spans_of_rank(run, RankId{0}, "send").size(), GetParam() == 1 ? 0U : 1U);
  EXPECT_EQ(lost(run, Counter::activities_unknown), 0U);
  EXPECT_GT(lost(run, Counter::comm_times_unknown), 0U) << "neither kernels nor channels were recorded";
}

TEST_P(EveryVersion, WhatIsEnqueuedBetweenWindowsIsCountedAndNotRecorded) {
  const Folder folder;
  RecordOptions options{.command = {program("nccl_actor"), "window", std::to_string(GetParam()), "2"}};
  options.window = "1,0,1,1";
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0) << "also between windows, each group has a handle";
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto reduces = spans_of_rank(*recorded.run, RankId{1}, "allreduce");
  ASSERT_EQ(reduces.size(), 1U);
  EXPECT_THAT(attributes_of(*recorded.run, *reduces[0]), Contains("nccl_sequence=1"));
}

TEST_P(EveryVersion, SendsAreLeftOutAtTheLevelOfCollectivesWhateverNcclReports) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "operations", GetParam(), "coll");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_of_rank(*recorded.run, RankId{0}, "allreduce").size(), 3U);
  EXPECT_EQ(spans_of_rank(*recorded.run, RankId{0}, "send").size(), 0U);
}

class TimedVersion : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NcclPlugin, TimedVersion, ::testing::Values(4, 5, 6, 7));

TEST_P(TimedVersion, ChannelsTellWhenACollectiveRanEvenIfTheyEndLate) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "channels", GetParam(), "kernel");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  ASSERT_EQ(run.collectives().size(), 2U);
  for (const Collective& collective : run.collectives()) {
    EXPECT_EQ(run.text(collective.op), "allreduce");
    EXPECT_EQ(run.text(collective.dtype), "f32");
    EXPECT_EQ(collective.bytes, 4000);
    EXPECT_EQ(collective.sequence, 0);
    EXPECT_NEAR(static_cast<double>((collective.finished - collective.started).count()), 60'000, 60)
        << "the first start to the last end";
    ASSERT_TRUE(collective.group.is_set());
  }
  ASSERT_EQ(run.groups().size(), 1U);
  EXPECT_THAT(run.groups()[0].members, ElementsAre(RankId{0}, RankId{1}));
  EXPECT_EQ(lost(run, Counter::comm_times_unknown), 0U);
  EXPECT_EQ(lost(run, Counter::comm_events_dropped), 0U);
}

TEST(NcclPlugin, Version3KnowsChannelsWithoutTimesAndTheHostsClockIsUsed) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "channels", 3, "kernel");
  ASSERT_TRUE(recorded.run) << recorded.why;
  ASSERT_EQ(recorded.run->collectives().size(), 2U);
  for (const Collective& collective : recorded.run->collectives()) {
    EXPECT_GE(collective.started, collective.enqueued);
    EXPECT_EQ(collective.state, CommState::finished);
  }
}

TEST(NcclPlugin, AllGatherHasTheTypeOfItsCallAndTheBytesOfOneRank) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "typed", 5, "kernel");
  ASSERT_TRUE(recorded.run) << recorded.why;
  ASSERT_EQ(recorded.run->collectives().size(), 2U);
  for (const Collective& one : recorded.run->collectives()) {
    EXPECT_EQ(recorded.run->text(one.op), "allgather");
    EXPECT_EQ(recorded.run->text(one.dtype), "f64");
    EXPECT_EQ(one.bytes, 80);
  }
}

TEST(NcclPlugin, ProxyOperationsSayWhatTheirStepsWaitedFor) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "proxy", 5, "proxy");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const Span* const sent = span_named(run, "proxy send");
  ASSERT_NE(sent, nullptr);
  const auto attributes = attributes_of(run, *sent);
  for (const char* one : {"channel=5", "peer=1", "planned_steps=4", "chunk_bytes=512", "steps=4", "bytes=2048"})
    EXPECT_THAT(attributes, Contains(one));
  std::set<std::string> waits;
  for (const std::string& text : attributes) waits.insert(text.substr(0, text.find('=')));
  for (const char* one : {"own_gpu_wait_ns", "peer_wait_ns", "transfer_ns"}) EXPECT_TRUE(waits.contains(one)) << one;
  EXPECT_EQ(spans_named(run, "proxy receive"), 2U) << "of another process: kept, tied to nothing";
  ASSERT_EQ(run.collectives().size(), 2U) << "from its first network operation to its last";
  EXPECT_GE(run.collectives()[0].started, sent->time.begin);
  EXPECT_GT(run.collectives()[0].finished, run.collectives()[0].started);
}

TEST_P(TimedVersion, WhatAProgramAnnouncesAndNcclCarriesOutIsRecordedOnce) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "announced", GetParam(), "kernel,p2p");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  std::vector<std::string> operations;  // of one rank
  for (const Collective& one : run.collectives()) {
    if (one.rank != RankId{1}) continue;
    operations.push_back(std::string{run.text(run.groups()[one.group.index()].name)} + "#" +
                         std::to_string(one.sequence) + " " + std::string{run.text(one.op)} + " " +
                         std::to_string(one.bytes) + (one.peer >= 0 ? " with " + std::to_string(one.peer) : ""));
    EXPECT_NEAR(static_cast<double>((one.finished - one.started).count()), 1'000, 60) << "as its channel ran";
    EXPECT_EQ(run.text(run.lane(one.lane).name), "NCCL communicator 0xfedcba9876543210");
  }
  EXPECT_THAT(operations, UnorderedElementsAre("dp#0 allreduce 4000", "dp#1 allreduce 4000", "dp#2 allreduce 4000",
                                               "dp#3 allreduce 80", "dp#4 send 200 with 0",
                                               "communicator 0xfedcba9876543210#4 allreduce 20000 with 0"));
  EXPECT_EQ(lost(run, Counter::comm_not_announced), 2U) << "the last one, on each rank";
  EXPECT_EQ(lost(run, Counter::comm_announced_only), 0U);
}

class GraphVersion : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NcclPlugin, GraphVersion, ::testing::Range(3, 8));

TEST_P(GraphVersion, WhatACudaGraphLaunchesDoesNotShiftTheNumbersOfARank) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "graph", GetParam(), "proxy");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  std::map<std::int64_t, std::vector<std::int64_t>> numbers;  // by bytes, which no two operations share
  for (const Collective& one : recorded.run->collectives()) numbers[one.bytes].push_back(one.sequence);
  EXPECT_EQ(numbers.size(), 100U) << "nobody says when the graph ran";
  std::set<std::int64_t> distinct;
  for (const auto& [bytes, of_ranks] : numbers) {
    ASSERT_EQ(of_ranks.size(), 2U) << bytes;
    EXPECT_EQ(of_ranks[0], of_ranks[1]) << bytes;
    distinct.insert(of_ranks[0]);
  }
  EXPECT_EQ(distinct.size(), 100U);
}

class CalledVersion : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NcclPlugin, CalledVersion, ::testing::Range(5, 8));

TEST_P(CalledVersion, WhatAThreadOfCudaReportsWasEnqueuedWhenItWasCalled) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "callback", GetParam(), "kernel");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  std::map<RankId, RunTime> reported;
  for (const Mark& mark : run.marks())
    if (run.text(mark.name) == "reporting") reported[run.lane(mark.lane).rank] = mark.time;
  ASSERT_EQ(run.collectives().size(), 2U);
  for (const Collective& one : run.collectives()) {
    EXPECT_GE(reported.at(one.rank) - one.enqueued, nanoseconds{19'900'000});
    for (const std::string& text : attributes_of(run, run.span(one.span)))
      EXPECT_FALSE(text.starts_with("called_")) << text;
  }
}

/// What a recording of RCCL says, whose timer counts differently from NCCL's.
Recorded play_rccl(const Folder& folder, const std::string& scene) {
  const Folder libraries;
  fs::copy_file(program("libnvperf_standin.so"), libraries / "librccl.so.1");
  const Variable library{"STANDIN_RCCL", libraries / "librccl.so.1"};
  return play_scene(folder, scene, 6, "kernel");
}

std::vector<std::int64_t> lengths_of(const Run& run, RankId rank) {
  std::vector<std::int64_t> lengths;
  for (const Collective& one : run.collectives())
    if (one.rank == rank) lengths.push_back((one.finished - one.started).count());
  return lengths;
}

TEST(NcclPlugin, TheTimerOfRcclCountsTensOfNanosecondsOnceThatIsProven) {
  const Folder folder;
  const Recorded recorded = play_rccl(folder, "ticks");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "nccl_version"), "unknown (RCCL)");
  const auto lengths = lengths_of(*recorded.run, RankId{1});
  ASSERT_EQ(lengths.size(), 34U);
  EXPECT_LT(lengths[0], 3'000'000) << "as the host noticed it, which is that the channel began and ended at once";
  EXPECT_NEAR(static_cast<double>(lengths[32]), 4e6, 6e3);
  EXPECT_NEAR(static_cast<double>(lengths[33]), 4e6, 6e3);
  EXPECT_EQ(told(*recorded.run, "nccl_timer_problem"), "");
  EXPECT_EQ(lost(*recorded.run, Counter::comm_times_unknown), 0U);
}

TEST(NcclPlugin, EventsBeyondTheSlotsAreCountedAndTheSlotsComeBack) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "exhaustion", 5, "kernel");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::comm_events_dropped), 200U) << "100 in each of two processes";
}

TEST(NcclPlugin, UnknownEventsAreCountedAndHandlesThatItNeverGaveAreIgnored) {
  for (const int version : {6, 7}) {
    const Folder folder;
    const Recorded recorded = play_scene(folder, "oddities", version, "kernel,proxy");
    EXPECT_EQ(recorded.status, 0) << version;
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_EQ(lost(*recorded.run, Counter::activities_unknown), 2U) << "one on each rank; a phase is known";
    EXPECT_EQ(lost(*recorded.run, Counter::comm_events_dropped), 0U);
  }
}

TEST(NcclPlugin, CommunicatorsOfSeveralThreadsAreCountedApart) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "threads", 5, "kernel");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(run.groups().size(), 4U);
  ASSERT_EQ(run.collectives().size() + lost(run, Counter::events_dropped), 4000U);
  std::set<std::tuple<RankId, GroupId, std::int64_t>> distinct;
  for (const Collective& one : run.collectives()) distinct.insert({one.rank, one.group, one.sequence});
  EXPECT_EQ(distinct.size(), run.collectives().size());
}

TEST_P(EveryVersion, ThreadsThatTellOfOneCommunicatorAtATimeAgreeOnItsName) {
  const Folder folder;
  const Recorded recorded = play_scene(folder, "shared", GetParam());
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(spans_of_rank(run, RankId{0}, "allreduce").size(), 400U);
  for (const Span& span : run.spans())
    EXPECT_EQ(run.text(run.lane(span.lane).name), "NCCL communicator 0xfedcba9876543210");
}

TEST(NcclPlugin, TheLevelDecidesWhatNcclIsAskedFor) {
  const auto mask = [](const std::string& level) {
    const Folder folder;
    RecordOptions options{
        .command = {"/bin/sh", "-c", program("nccl_actor") + " mask 5 > " + (folder / "mask").string()}};
    options.nccl = level;
    record(folder, options);
    std::ifstream file{folder / "mask"};
    int value = -1;
    file >> value;
    return value;
  };
  constexpr int coll = 1 << 1 | 1 << 8 | 1 << 9 | 1 << 12;
  constexpr int p2p = coll | 1 << 2 | 1 << 10;
  EXPECT_EQ(mask("coll"), coll);
  EXPECT_EQ(mask(""), p2p);
  EXPECT_EQ(mask("proxy"), p2p | 1 << 3 | 1 << 4);
  EXPECT_EQ(mask("kernel"), p2p | 1 << 6);
  EXPECT_EQ(mask("kernel,proxy"), p2p | 1 << 3 | 1 << 4 | 1 << 6);
}

TEST(NcclPlugin, AnUnknownLevelIsRefused) {
  const Folder folder;
  RecordOptions options{.command = {"true"}};
  options.nccl = "everything";
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.why, "--nccl: unknown level 'everything'; choose from coll, p2p, proxy, kernel");
}

TEST(NcclPlugin, APluginOfTheUserIsKeptAndSaid) {
  const Folder folder;
  const Variable theirs{"NCCL_PROFILER_PLUGIN", "/opt/inspector.so"};
  const Recorded recorded = record(folder, {"/bin/sh", "-c", "test \"$NCCL_PROFILER_PLUGIN\" = /opt/inspector.so"});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_THAT(recorded.summary.notes,
              Contains(::testing::HasSubstr("NCCL_PROFILER_PLUGIN is already set to /opt/inspector.so")));
}

}  // namespace
}  // namespace rankscope::collectors
