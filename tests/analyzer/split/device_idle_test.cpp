#include "split/device_idle.h"

#include <gtest/gtest.h>

#include <ostream>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "split/host_timeline.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

/// "begin-end cause detail range/call" of everything outside the spans of streams.
std::vector<std::string> idle_of(std::string_view text) {
  const auto run = run_of(text);
  std::vector<TimeRange> busy;
  for (const Span& span : run->spans())
    if (run->lane(span.lane).kind == LaneKind::stream && span.kind != SpanKind::sync) busy.push_back(span.time);
  std::vector<std::string> lines;
  for (const auto& [time, reason] : device_idle(*run, RankId{0}, IntervalSet::from(busy), run->extent())) {
    const auto name = [&](StringId id) { return id.is_set() ? run->text(id) : std::string_view{"-"}; };
    const std::string_view detail = name_of(reason.detail);
    lines.push_back(format("{}-{} {}{}{} {}/{}", ns_of(time.begin), ns_of(time.end), name_of(reason.cause),
                           detail.empty() ? "" : ":", detail, name(reason.range), name(reason.call)));
  }
  return lines;
}

using Lines = std::vector<std::string>;

constexpr std::string_view lanes =
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 backward kind=thread number=2\n"
    "@lane 0 s7 kind=stream number=7 device=0\n"
    "@lane 0 s9 kind=stream number=9 device=0\n";

Lines idle_with_lanes(std::string_view text) { return idle_of(std::string{lanes} + std::string{text}); }

TEST(DeviceIdle, ALateLaunchIsChargedToWhatTheHostWasIn) {
  EXPECT_EQ(idle_with_lanes("0 op 0 30000 aten::mm lane=main\n"
                            "0 runtime 20000 22000 cudaLaunchKernel lane=main\n"
                            "0 compute 25000 30000 gemm lane=s7\n"
                            "@link launch 1 2\n"),
            (Lines{"0-20000 host aten::mm/-", "20000-25000 host:launching aten::mm/cudaLaunchKernel"}));
}

TEST(DeviceIdle, TheThreadThatLaunchedIsAsked) {
  EXPECT_EQ(idle_with_lanes("0 step 0 90000 step index=0 lane=main\n"
                            "0 op 5000 90000 MmBackward lane=backward\n"
                            "0 runtime 20000 22000 cudaLaunchKernel lane=backward\n"
                            "0 compute 22000 90000 gemm lane=s7\n"
                            "@link launch 2 3\n"),
            (Lines{"0-5000 host -/-", "5000-20000 host MmBackward/-",
                   "20000-22000 host:launching MmBackward/cudaLaunchKernel"}));
}

/// "begin-end" of the communication during which the host was late, where `launches` launches what follows.
Lines host_late(std::string_view launches, std::string_view more = "") {
  const auto run = run_of(std::string{lanes} + format("0 comm 10000 60000 allreduce lane=s9\n"
                                                      "0 runtime 5000 50000 cudaStreamSynchronize lane=main\n"
                                                      "0 runtime 70000 71000 cudaLaunchKernel lane={}\n"
                                                      "0 compute 72000 90000 gemm lane=s7\n"
                                                      "@link launch 2 3\n0 step 0 100000 step index=0 lane=main\n{}",
                                                      launches, more));
  Lines found;
  for (const TimeRange& late : host_late_during(*run, RankId{0}, IntervalSet::from({{at(10000), at(60000)}})))
    found.push_back(format("{}-{}", ns_of(late.begin), ns_of(late.end)));
  return found;
}

TEST(DeviceIdle, AHostThatIsBlockedDuringCommunicationIsNotLate) {
  EXPECT_EQ(host_late("main"), (Lines{"50000-60000"}));
  EXPECT_EQ(host_late("backward"), (Lines{"50000-60000"})) << "a thread that does nothing waits for the main one";
  EXPECT_EQ(host_late("backward", "0 op 20000 80000 MmBackward lane=backward\n"), (Lines{"20000-60000"}))
      << "one that works is late by itself";
}

TEST(DeviceIdle, ASynchronizationIsTheCauseForAsLongAsItHeldTheHostUp) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n"
                            "0 op 1000 13000 aten::item lane=main\n"
                            "0 runtime 2000 12000 cudaStreamSynchronize lane=main\n"
                            "0 op 30000 40000 aten::mm lane=main\n"
                            "0 runtime 34000 36000 cudaLaunchKernel lane=main\n"
                            "0 compute 36000 50000 b lane=s7\n"
                            "@link launch 4 5\n"),
            (Lines{"10000-20000 sync aten::item/cudaStreamSynchronize", "20000-30000 host -/-",
                   "30000-34000 host aten::mm/-", "34000-36000 host:launching aten::mm/cudaLaunchKernel"}));
}

TEST(DeviceIdle, AHostThatWaitsForNothingThatWasRecordedStillWaits) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n"
                            "0 runtime 20000 30000 cudaDeviceSynchronize lane=main\n"
                            "0 runtime 34000 36000 cudaLaunchKernel lane=main\n"
                            "0 compute 36000 50000 b lane=s7\n"
                            "@link launch 2 3\n"),
            (Lines{"10000-20000 host -/-", "20000-30000 sync -/cudaDeviceSynchronize", "30000-34000 host -/-",
                   "34000-36000 host:launching -/cudaLaunchKernel"}));
}

TEST(DeviceIdle, ACallIntoTheSystemDoesNotReplaceTheCallThatMadeIt) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n"
                            "0 runtime 10000 60000 cudaMalloc lane=main\n"
                            "0 runtime 20000 40000 ioctl lane=main cat=os_runtime\n"
                            "0 runtime 62000 68000 fopen lane=main cat=os_runtime\n"
                            "0 runtime 70000 71000 cudaLaunchKernel lane=main\n"
                            "0 compute 71000 80000 b lane=s7\n"
                            "@link launch 4 5\n"),
            (Lines{"10000-60000 host -/cudaMalloc", "60000-62000 host -/-", "62000-68000 host -/fopen",
                   "68000-70000 host -/-", "70000-71000 host:launching -/cudaLaunchKernel"}));
}

TEST(DeviceIdle, AWaitInTheSystemIsThatOfTheSynchronizationAroundIt) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n"
                            "0 runtime 20000 30000 cudaDeviceSynchronize lane=main\n"
                            "0 runtime 21000 29000 poll lane=main cat=os_runtime\n"
                            "0 runtime 34000 36000 cudaLaunchKernel lane=main\n"
                            "0 compute 36000 50000 b lane=s7\n"
                            "@link launch 3 4\n"),
            (Lines{"10000-20000 host -/-", "20000-30000 sync -/cudaDeviceSynchronize", "30000-34000 host -/-",
                   "34000-36000 host:launching -/cudaLaunchKernel"}));
}

TEST(DeviceIdle, DataLoadingIsData) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n"
                            "0 data 8000 60000 loader lane=main\n"
                            "0 op 20000 30000 aten::stack lane=main\n"
                            "0 runtime 70000 71000 cudaLaunchKernel lane=main\n"
                            "0 compute 71000 80000 b lane=s7\n"
                            "@link launch 3 4\n"),
            (Lines{"10000-20000 data -/-", "20000-30000 data aten::stack/-", "30000-60000 data -/-",
                   "60000-70000 host -/-", "70000-71000 host:launching -/cudaLaunchKernel"}));
}

TEST(DeviceIdle, ShortGapsOfQueuedWorkAreKernelGaps) {
  EXPECT_EQ(idle_with_lanes("0 runtime 0 1000 cudaLaunchKernel lane=main\n"
                            "0 runtime 1000 2000 cudaLaunchKernel lane=main\n"
                            "0 compute 2000 10000 a lane=s7\n"
                            "0 compute 20000 30000 b lane=s7\n"
                            "@link launch 0 2\n"
                            "@link launch 1 3\n"),
            (Lines{"0-2000 host:launching -/cudaLaunchKernel", "10000-20000 kernel_gap -/-"}));
}

TEST(DeviceIdle, LongGapsOfQueuedWorkSayWhatIsKnown) {
  const std::string_view queued =
      "0 runtime 0 1000 cudaLaunchKernel lane=main\n"
      "0 compute 0 10000 a lane=s7\n"
      "0 compute 40000 50000 b lane=s7\n"
      "@link launch 0 2\n";
  EXPECT_EQ(idle_with_lanes(queued), (Lines{"10000-40000 other -/-"}));
  EXPECT_EQ(idle_with_lanes(std::string{queued} + "0 sync 12000 12000 \"Stream Wait Event\" lane=s7\n"),
            (Lines{"10000-40000 other:waits_for_event -/-"}));
  EXPECT_EQ(idle_with_lanes(std::string{queued} + "0 overhead 15000 40000 \"Activity Buffer Request\" lane=backward\n"),
            (Lines{"10000-40000 other:profiler_overhead -/-"}));
}

TEST(DeviceIdle, WithoutLaunchRecordsTheCauseIsUnknown) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n0 compute 40000 50000 b lane=s7\n"),
            (Lines{"10000-40000 other:no_launch_record -/-"}));
}

TEST(DeviceIdle, BehindTheLastWorkTheHostLaunchedNothing) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n0 checkpoint 5000 50000 save lane=main\n"),
            (Lines{"10000-50000 host:nothing_followed save/-"}));
}

TEST(DeviceIdle, BehindTheLastEventOfTheHostNobodyKnows) {
  EXPECT_EQ(idle_with_lanes("0 compute 0 10000 a lane=s7\n0 op 5000 20000 save lane=main\n"
                            "0 sync 10000 50000 \"Context Sync\" lane=s9\n"),
            (Lines{"10000-20000 host:nothing_followed save/-", "20000-50000 other:nothing_followed -/-"}));
}

TEST(DeviceIdle, AGapBetweenKernelsOfOneGraphLiesInside) {
  EXPECT_EQ(idle_with_lanes("0 runtime 0 1000 cudaGraphLaunch lane=main\n"
                            "0 compute 1000 10000 a lane=s7\n"
                            "0 compute 40000 50000 b lane=s7\n"
                            "@link launch 0 1\n@link launch 0 2\n"),
            (Lines{"0-1000 host:launching -/cudaGraphLaunch", "10000-40000 other:inside_graph -/-"}));
}

TEST(DeviceIdle, WorkOfAnotherStreamEndsAGap) {
  EXPECT_EQ(idle_with_lanes("0 runtime 10000 11000 cudaMemcpyAsync lane=main\n"
                            "0 compute 0 10000 a lane=s7\n"
                            "0 memory 12000 20000 Memcpy lane=s9\n"
                            "0 compute 20000 30000 b lane=s7\n"
                            "@link launch 0 2\n"),
            (Lines{"10000-12000 host:launching -/cudaMemcpyAsync"}));
}

TEST(HostTimeline, SpansThatOnlyOverlapDoNotTurnTimeBack) {
  const auto run = run_of("0 op 0 100 a\n0 op 50 150 b\n");
  const HostTimeline host{*run, run->lanes().front()};
  RunTime reached = at(-10);
  host.over({at(-10), at(200)}, [&](TimeRange time, const HostPlace&) {
    EXPECT_EQ(time.begin, reached);
    reached = time.end;
  });
  EXPECT_EQ(reached, at(200));
  EXPECT_EQ(run->text(host.at(at(120)).range), "b");
  EXPECT_FALSE(host.at(at(160)).range.is_set());
}

TEST(HostTimeline, OnlyCallsThatReturnLateBlock) {
  for (const char* name :
       {"cudaStreamSynchronize", "cuStreamSynchronize_ptsz", "hipDeviceSynchronize", "cudaMemcpy", "aten::item"})
    EXPECT_TRUE(blocks_host(name)) << name;
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpyAsync", "aten::copy_", "cudaStreamWaitEvent"})
    EXPECT_FALSE(blocks_host(name)) << name;
  EXPECT_TRUE(waits_in_system("poll"));
  EXPECT_FALSE(waits_in_system("ioctl")) << "a driver works in it";
}

}  // namespace
}  // namespace rankscope::analyzer
