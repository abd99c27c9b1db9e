#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "rankscope/analyzer/export.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "support/perfetto_trace.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PerfettoTrace;
using testing::read_file;
using testing::TemporaryFolder;

Result<void> export_perfetto(const Run& run, const std::filesystem::path& out, const Progress& progress = {}) {
  for (const auto& row : exports()) {
    if (row.id == "perfetto") return row.write(run, out, progress);
  }
  return fail(ErrorKind::usage, "no export named perfetto");
}

std::string bytes_of(const std::string& run_text) {
  const auto run = run_from_text(run_text);
  EXPECT_TRUE(run) << run.error().message;
  if (!run) return "";
  const TemporaryFolder folder;
  const auto written = export_perfetto(**run, folder / "t.pftrace");
  EXPECT_TRUE(written) << written.error().message;
  return read_file(folder / "t.pftrace");
}

PerfettoTrace trace_of(const std::string& run_text) {
  auto trace = testing::read_perfetto(bytes_of(run_text));
  EXPECT_THAT(trace.problems, IsEmpty());
  return trace;
}

TEST(Perfetto, ASliceKeepsItsTimesToTheNanosecond) {
  const auto trace = trace_of("0 compute 0 1 first\n0 compute 4000000000000001 4000000000000009 late\n");
  ASSERT_EQ(trace.named("late").size(), 1U);
  EXPECT_EQ(trace.named("late")[0].begin, 4000000000000001);
  EXPECT_EQ(trace.named("late")[0].duration, 8);
  EXPECT_EQ(trace.named("late")[0].category, "compute");
}

TEST(Perfetto, ARunThatBeginsBeforeZeroIsMovedToZero) {
  const auto trace = trace_of("0 compute -500 100 a\n0 compute 200 300 b\n");
  EXPECT_EQ(trace.named("a").at(0).begin, 0);
  EXPECT_EQ(trace.named("b").at(0).begin, 700);
}

TEST(Perfetto, NestedSlicesEndInsideOut) {
  const auto trace = trace_of("0 op 0 100 outer\n0 op 10 100 middle\n0 op 20 100 inner\n0 op 100 110 next\n");
  EXPECT_EQ(trace.named("outer").at(0).duration, 100);
  EXPECT_EQ(trace.named("middle").at(0).duration, 90);
  EXPECT_EQ(trace.named("inner").at(0).duration, 80);
  EXPECT_EQ(trace.named("next").at(0).duration, 10);
}

TEST(Perfetto, RanksAreProcessesInOrderWithThePidOneAboveTheRank) {
  const auto trace = trace_of("@rank 0 host=n0\n0 op 0 1 a\n@rank 3 host=n1\n3 op 0 1 a\n");
  std::vector<std::string> processes;
  for (const auto& track : trace.tracks)
    if (track.kind == "process") processes.push_back(format("{} {} at {}", track.pid, track.name, track.order));
  EXPECT_THAT(processes, ElementsAre("1 rank 0 (n0) at 0", "4 rank 3 (n1) at 1"));
  EXPECT_EQ(trace.tracks.front().kind, "root");
}

TEST(Perfetto, ThreadsAreThreadsAndEveryOtherTrackIsNeverMerged) {
  const auto trace =
      trace_of("@group dp 0\n0 op 0 1 a\n0 comm 0 5 allreduce group=dp\n0 compute 0 9 gemm\n0 counter 1 2 rss_bytes\n");
  std::vector<std::string> names;
  for (const auto& track : trace.tracks) {
    if (track.kind == "root" || track.kind == "process") continue;
    names.push_back(track.kind + " " + track.name);
    EXPECT_EQ(track.merge, track.kind == "thread" ? 0 : 2) << track.name;
  }
  EXPECT_THAT(names, ElementsAre("thread main", "track comm", "track stream 0", "counter rss"));
}

TEST(Perfetto, StreamsOfSeveralDevicesHaveALevelForTheDevice) {
  const auto trace = trace_of(
      "@rank 0\n@device 0 0 name=H200\n@device 0 1\n"
      "@lane 0 \"GPU 0 stream 7\" kind=stream number=7 device=0\n@lane 0 \"GPU 1 stream 7\" kind=stream number=7 "
      "device=1\n"
      "0 compute 0 9 a lane=\"GPU 0 stream 7\"\n0 compute 0 9 b lane=\"GPU 1 stream 7\"\n");
  EXPECT_EQ(trace.track(trace.track(trace.named("a").at(0).track).parent).name, "GPU 0 (H200)");
  EXPECT_EQ(trace.track(trace.track(trace.named("b").at(0).track).parent).name, "GPU 1");
}

TEST(Perfetto, PartlyOverlappingSpansGoToTracksOfTheirOwn) {
  const auto trace = trace_of("0 compute 0 10 a\n0 compute 5 15 b\n0 compute 6 9 c\n");
  EXPECT_EQ(trace.track(trace.named("a").at(0).track).name, "stream 0");
  EXPECT_EQ(trace.track(trace.named("b").at(0).track).name, "stream 0 (2)");
  EXPECT_EQ(trace.named("b").at(0).duration, 10);
}

TEST(Perfetto, MembersOfACollectiveAreJoinedInOrderOfTheirStart) {
  const auto trace = trace_of(
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 20 50 allreduce group=dp seq=0 bytes=4096 dtype=f32 enqueued=15\n"
      "1 comm 10 50 allreduce group=dp seq=0 bytes=4096 dtype=f32\n"
      "2 comm 30 50 allreduce group=dp seq=0 bytes=4096 dtype=f32\n");
  const auto members = trace.named("allreduce");
  ASSERT_EQ(members.size(), 3U);
  std::set<std::uint64_t> correlations;
  for (const auto& member : members) correlations.insert(member.correlation);
  EXPECT_EQ(correlations.size(), 1U);
  EXPECT_NE(*correlations.begin(), 0U);
  for (const auto& member : members) {
    EXPECT_THAT(member.flows, ElementsAre(member.correlation));
    EXPECT_THAT(member.ending_flows, IsEmpty());
    EXPECT_EQ(member.argument("wait_ns"), std::to_string(30 - member.begin));
    EXPECT_EQ(member.argument("waited_for"), member.begin == 30 ? "" : "2");
    EXPECT_EQ(member.argument("transfer_ns"), "20");
    EXPECT_EQ(member.argument("bytes"), "4096");
  }
}

TEST(Perfetto, TheArrowToAReceiverThatWaitedEndsWhereItsSenderBegan) {
  const auto trace = trace_of("@group pp 0,1\n0 comm 20 50 send group=pp peer=1\n1 comm 5 50 recv group=pp peer=0\n");
  ASSERT_EQ(trace.named("send").size(), 1U);
  ASSERT_EQ(trace.named("recv").size(), 2U);
  const auto slice = trace.named("recv")[0];
  const auto arrival = trace.named("recv")[1];
  EXPECT_EQ(slice.duration, 45);
  EXPECT_THAT(slice.flows, IsEmpty());
  EXPECT_TRUE(arrival.instant);
  EXPECT_EQ(arrival.begin, 21);
  EXPECT_EQ(arrival.flows, trace.named("send")[0].flows);
}

TEST(Perfetto, AnArrowLeadsFromTheLaunchToTheKernel) {
  const auto trace = trace_of("0 runtime 5 8 cudaLaunchKernel\n0 compute 20 60 gemm\n@link launch 0 1\n");
  const auto launch = trace.named("cudaLaunchKernel").at(0);
  const auto kernel = trace.named("gemm").at(0);
  EXPECT_EQ(launch.flows, kernel.ending_flows);
  EXPECT_EQ(launch.flows.size(), 1U);
}

TEST(Perfetto, AKernelStampedBeforeItsLaunchIsDrawnFromItAndSaysSo) {
  const auto trace = trace_of("0 runtime 10 15 cudaLaunchKernel\n0 compute 7 60 gemm\n@link launch 0 1\n");
  const auto kernel = trace.named("gemm").at(0);
  EXPECT_EQ(kernel.begin, 11);
  EXPECT_EQ(kernel.duration, 49);
  EXPECT_EQ(kernel.argument("clamped_ns"), "4");
  EXPECT_EQ(kernel.ending_flows.size(), 1U);
}

TEST(Perfetto, WithoutRoomToMoveTheKernelThereIsNoArrow) {
  const auto trace =
      trace_of("0 runtime 10 15 cudaLaunchKernel\n0 compute 2 6 gemm\n0 compute 6 20 next\n@link launch 0 1\n");
  EXPECT_EQ(trace.named("gemm").at(0).begin, 2);
  EXPECT_EQ(trace.named("gemm").at(0).argument("launch_after_ns"), "8");
  EXPECT_THAT(trace.named("gemm").at(0).ending_flows, IsEmpty());
  EXPECT_THAT(trace.named("cudaLaunchKernel").at(0).flows, IsEmpty());
}

TEST(Perfetto, ArrowsOfCollectivesAndLaunchesDoNotShareNumbers) {
  const auto trace = trace_of(
      "@group dp 0,1\n0 runtime 1 2 launch\n0 compute 3 9 gemm\n@link launch 0 1\n"
      "0 comm 20 50 allreduce group=dp seq=0\n1 comm 10 50 allreduce group=dp seq=0\n");
  std::set<std::uint64_t> ids;
  for (const auto& event : trace.events) ids.insert(event.flows.begin(), event.flows.end());
  EXPECT_EQ(ids.size(), 2U);
}

TEST(Perfetto, AttributesBecomeArguments) {
  const auto trace = trace_of("0 op 0 50 a n=-7 big=9007199254740993 note=hello list=@\"[1,2]\" cut=end\n");
  const auto slice = trace.named("a").at(0);
  EXPECT_EQ(slice.argument("n"), "-7");
  EXPECT_EQ(slice.argument("big"), "9007199254740993");
  EXPECT_EQ(slice.argument("note"), "hello");
  EXPECT_EQ(slice.argument("list"), "[1,2]");
  EXPECT_EQ(slice.argument("cut"), "end");
}

TEST(Perfetto, MarksAndCollectivesThatNeverStartedAreInstantsOfTheirLane) {
  const auto trace =
      trace_of("@group dp 0,1\n0 op 0 50 a\n0 mark 30 checkpoint file=x\n0 comm 38 - allreduce group=dp on=main\n");
  const auto mark = trace.named("checkpoint").at(0);
  EXPECT_TRUE(mark.instant);
  EXPECT_EQ(mark.begin, 30);
  EXPECT_EQ(mark.argument("file"), "x");
  EXPECT_EQ(mark.track, trace.named("a").at(0).track);
  EXPECT_EQ(trace.named("allreduce").at(0).argument("state"), "enqueued, never started");
}

TEST(Perfetto, CountersHaveTheirUnit) {
  const auto trace = trace_of(
      "0 op 0 50 a\n0 counter 10 1024.5 rss_bytes\n0 counter 20 7 cpu_percent\n0 counter 30 7 page_faults_minor\n");
  std::map<std::int64_t, std::string> names;
  for (const auto& sample : trace.samples) {
    const auto& track = trace.track(sample.track);
    EXPECT_EQ(track.kind, "counter");
    names[sample.time] = track.name + " in " + track.unit;
  }
  EXPECT_EQ(names, (std::map<std::int64_t, std::string>{
                       {10, "rss in bytes"}, {20, "cpu in %"}, {30, "page_faults_minor in count"}}));
}

TEST(Perfetto, AnyMixtureOfSpansLosesNothing) {
  std::mt19937 random{7};
  std::string text = "@group dp 0,1,2\n";
  std::size_t slices = 0;
  for (int rank = 0; rank < 3; ++rank) {
    for (int i = 0; i < 300; ++i, ++slices) {
      const auto begin = random() % 1000;
      text += format("{} compute {} {} k{} n={}\n", rank, begin, begin + random() % 100, i % 50, i);
    }
  }
  const auto trace = trace_of(text);
  EXPECT_EQ(trace.events.size(), slices);
  std::int64_t total = 0;
  const auto run = run_from_text(text);
  for (const Span& span : (*run)->spans()) total += span.time.length().count();
  for (const auto& event : trace.events) total -= event.duration;
  EXPECT_EQ(total, 0);
}

TEST(Perfetto, TheSameRunGivesTheSameBytes) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += format("{} op {} {} name{} x={}\n", i % 7, i * 3, i * 3 + 2, i % 11, i);
  EXPECT_EQ(bytes_of(text), bytes_of(text));
}

TEST(Perfetto, ACancelledExportLeavesNothing) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += format("{} op {} {} name{} x={}\n", i % 7, i * 3, i * 3 + 2, i % 11, i);
  const auto run = run_from_text(text);
  const TemporaryFolder folder;
  const auto written = export_perfetto(**run, folder / "t.pftrace", [](double) { return false; });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(Perfetto, AFullDiskIsAnErrorThatNamesThePath) {
  const auto run = run_from_text("0 op 0 50 a\n");
  const auto written = export_perfetto(**run, "/dev/full");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace rankscope::analyzer
