#include "memory/parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/memory/memory_text.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

using testing::gpu_rank;
using testing::Heap;
using testing::run_of;

MemorySection memory_in(const std::string& text, const ReportOptions& options = {}) {
  return analyze(*run_of(text), options).memory.value();
}

DeviceMemory device_of(const std::string& events) { return memory_in(gpu_rank(0) + events).devices.at(0); }

std::int64_t sum_of(const MemoryHolders& holders) {
  std::int64_t sum = holders.before_recording_bytes + holders.unknown_bytes;
  for (const MemoryHolder& holder : holders.rows) sum += holder.bytes;
  return sum;
}

constexpr std::string_view operators =
    "0 step 0 100 step index=3 lane=main\n"
    "0 step 100 200 step index=4 lane=main\n"
    "0 op 100 160 aten::linear lane=main\n"
    "0 op 110 150 aten::mm lane=main\n"
    "0 op 112 120 aten::empty lane=main\n"
    "0 user 160 180 logging lane=main\n"
    "0 compute 0 200 gemm lane=s7\n";

TEST(Memory, ThePeakHasATimeAStepAndTheOperatorThatAllocated) {
  Heap heap{0, {.allocated = 1'000, .reserved = 5'000}};
  const DeviceMemory memory = device_of(std::string{operators} +
                                        heap.take(50, 1, 100).take(115, 2, 4'000).take(150, 3, 50).give(170, 2).text());
  EXPECT_EQ(memory.kind, MemoryKind::device);
  EXPECT_EQ(memory.name, "H200");
  EXPECT_EQ(memory.allocated.bytes, 5'150);
  EXPECT_EQ(memory.allocated.time_ns, 150);
  EXPECT_EQ(memory.allocated.step, 4);
  EXPECT_EQ(memory.allocated.place, (AllocationPlace{"aten::linear", "", ""})) << "aten::mm has just ended";
  EXPECT_EQ(memory.reserved.bytes, 5'150);
}

TEST(Memory, WhatIsHeldAtThePeakAddsUpToIt) {
  Heap heap{0, {.allocated = 1'000, .reserved = 5'000}};
  const DeviceMemory memory = device_of(std::string{operators} + heap.take(50, 1, 100)
                                                                     .take(115, 2, 4'000)
                                                                     .take(116, 3, 30)
                                                                     .change(117, 77, -300)
                                                                     .take(130, 4, 20)
                                                                     .give(131, 3)
                                                                     .take(165, 5, 500)
                                                                     .text());
  EXPECT_EQ(memory.allocated.bytes, 5'320);
  EXPECT_EQ(memory.allocated.place, (AllocationPlace{"", "", "logging"}));
  const MemoryHolders& holders = memory.holders.value();
  ASSERT_EQ(holders.rows.size(), 3U);
  EXPECT_EQ(holders.rows[0].place, (AllocationPlace{"aten::empty", "aten::linear", ""}));
  EXPECT_EQ(holders.rows[0].bytes, 4'000);
  EXPECT_EQ(holders.rows[0].blocks, 1);
  EXPECT_EQ(holders.rows[1].place, (AllocationPlace{"", "", "logging"}));
  EXPECT_EQ(holders.rows[2].place, (AllocationPlace{"aten::mm", "aten::linear", ""}));
  EXPECT_EQ(holders.before_recording_bytes, 700) << "a release of an unknown block was one of these";
  EXPECT_EQ(holders.unknown_bytes, 100) << "allocated outside of all operators";
  EXPECT_EQ(sum_of(holders), 5'320);
  EXPECT_EQ(memory.released_unknown, 1);
}

TEST(Memory, AnAddressThatIsGivenOutAgainEndsTheBlockBefore) {
  Heap heap{0, {}};
  heap.take(115, 1, 4'000).forget(4'000).take(118, 1, 3'000).take(119, 2, 2'000);
  const DeviceMemory memory = device_of(std::string{operators} + heap.text());
  EXPECT_EQ(memory.reused, 1);
  EXPECT_EQ(memory.allocated.bytes, 5'000);
  EXPECT_EQ(memory.holders->rows.at(0).blocks, 2);
  EXPECT_EQ(sum_of(*memory.holders), 5'000);
}

TEST(Memory, BlocksThatContradictTheTotalsHaveNoHolders) {
  Heap heap{0, {}};
  heap.take(115, 1, 4'000).forget(4'000).take(118, 2, 4'500);
  const DeviceMemory memory = device_of(std::string{operators} + heap.text());
  EXPECT_EQ(memory.allocated.bytes, 4'500);
  EXPECT_EQ(memory.holders.error().why,
            "releases are missing: the blocks without a recorded release add up to 8.50 kB, but the allocator reports "
            "4.50 kB");
}

TEST(Memory, ImpossibleNumbersAreLeftOutAndCounted) {
  Heap heap{0, {}};
  const DeviceMemory memory =
      device_of(heap.take(10, 1, 4'000).text() +
                "0 mark 20 [memory] \"Device Type\"=1 \"Device Id\"=0 Addr=2 Bytes=9223372036854775807 \"Total "
                "Allocated\"=9223372036854775807 \"Total Reserved\"=1 lane=main\n"
                "0 mark 21 [memory] \"Device Type\"=1 \"Device Id\"=0 Addr=2 Bytes=-9223372036854775808 lane=main\n"
                "0 mark 22 [memory] \"Device Type\"=1 \"Device Id\"=0 Addr=3 Bytes=8 \"Total Allocated\"=-8 lane=main\n"
                "0 mark 23 [memory] \"Device Type\"=1 \"Device Id\"=0 Addr=4 Bytes=many lane=main\n"
                "0 mark 24 [memory] \"Device Type\"=1 \"Device Id\"=0 lane=main\n" +
                "0 compute 0 30 gemm lane=s7\n");
  EXPECT_EQ(memory.ignored, 5);
  EXPECT_EQ(memory.events, 1);
  EXPECT_EQ(memory.allocated.bytes, 4'000);
}

TEST(Memory, OfWhichEveryNumberIsImpossibleHasNoPeak) {
  const DeviceMemory memory = device_of(
      "0 mark 24 [memory] \"Device Type\"=1 \"Device Id\"=99999999999 Addr=1 Bytes=9223372036854775807 lane=main\n"
      "0 compute 0 30 gemm lane=s7\n");
  EXPECT_FALSE(memory.allocated.bytes);
  EXPECT_EQ(memory.allocated.why, "all recorded memory events contain impossible numbers");
  EXPECT_FALSE(memory.holders);
}

TEST(Memory, ChangesWithoutTotalsAreGrowthSinceTheRecordingBegan) {
  const Report report =
      analyze(*run_of(gpu_rank(0) + "0 mark 10 [memory] \"Device Type\"=1 \"Device Id\"=0 Bytes=-500 lane=main\n"
                                    "0 mark 20 [memory] \"Device Type\"=1 \"Device Id\"=0 Bytes=700 lane=main\n"
                                    "0 mark 30 [memory] \"Device Type\"=1 \"Device Id\"=0 Bytes=-100 lane=main\n"
                                    "0 compute 0 30 gemm lane=s7\n"),
              {});
  const DeviceMemory& memory = report.memory->devices.at(0);
  EXPECT_TRUE(memory.changes_only);
  EXPECT_EQ(memory.allocated.bytes, 200);
  EXPECT_EQ(memory.allocated.time_ns, 20);
  EXPECT_EQ(memory.holders.error().why, "the totals of the allocator were not recorded");
  EXPECT_FALSE(report.rank_rows->at(0).peak_allocated_bytes);
  EXPECT_EQ(report.rank_rows->at(0).why_no_memory, "no totals were recorded, only changes");
  EXPECT_EQ(report.rank_rows->at(0).why_no_reserved, "reserved memory was not recorded");
}

TEST(Memory, UnusedIsTakenWhereMostOfTheReservedIsAllocated) {
  Heap heap{0, {.allocated = 2'000, .reserved = 10'000}};
  const DeviceMemory memory =
      device_of(heap.take(10, 1, 1'000).take(20, 2, 3'000).give(30, 2).text() + "0 compute 0 30 gemm lane=s7\n");
  EXPECT_EQ(memory.reserved.bytes, 10'000);
  EXPECT_EQ(memory.reserved.time_ns, 10);
  EXPECT_DOUBLE_EQ(memory.unused.value.value(), 0.4);
  EXPECT_EQ(memory.total_bytes, 100'000);
  EXPECT_EQ(memory.left_bytes, 90'000);
}

TEST(Memory, WhatIsLeftIsUnknownWithoutTheSizeOfTheDevice) {
  Heap heap{0, {}};
  const std::string events = heap.take(10, 1, 1'000).text() + "0 compute 0 30 gemm lane=s7\n";
  const std::string lanes = "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  const DeviceMemory unnamed = memory_in(lanes + events).devices.at(0);
  EXPECT_FALSE(unnamed.left_bytes);
  EXPECT_EQ(unnamed.why_none_left, "the memory size of the device was not recorded");
  const DeviceMemory small = memory_in(gpu_rank(0, 999) + events).devices.at(0);
  EXPECT_FALSE(small.left_bytes);
  EXPECT_EQ(small.why_none_left, "the reserved memory exceeds the recorded memory size of the device");
}

TEST(Memory, AThinnedTimelineKeepsTheHighestAndTheLowest) {
  Heap heap{0, {.allocated = 10'000, .reserved = 0}};
  for (std::int64_t i = 0; i < 5'000; ++i) {
    heap.take(10 * i, 1, i == 1'234 ? 70'000 : 100 + i % 7).give(10 * i + 5, 1);
    if (i == 3'210) heap.change(10 * i + 6, 2, -9'999).take(10 * i + 7, 2, 9'999);
  }
  const DeviceMemory memory = device_of(heap.text() + "0 compute 0 30 gemm lane=s7\n");
  const auto& points = memory.allocated_points;
  EXPECT_LE(points.size(), 600U);
  EXPECT_GE(points.size(), 200U);
  const auto [low, high] = std::ranges::minmax_element(points, {}, &MemoryPoint::bytes);
  EXPECT_EQ(*high, (MemoryPoint{12'340, 80'000}));
  EXPECT_EQ(*low, (MemoryPoint{32'106, 1}));
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &MemoryPoint::time_ns));
  EXPECT_EQ(points.back(), (MemoryPoint{49'995, 10'000}));
}

TEST(Memory, OfTheStepsAskedForBeginsWithWhatWasThereBefore) {
  ReportOptions part;
  part.steps = {4, 4};
  part.include_warm_up = true;
  Heap heap{0, {}};
  const std::string text =
      gpu_rank(0) + std::string{operators} + heap.take(20, 1, 9'000).take(30, 2, 2'000).give(40, 1).give(120, 2).text();
  const MemorySection memory = memory_in(text, part);
  EXPECT_EQ(memory.devices.at(0).allocated.bytes, 2'000);
  EXPECT_EQ(memory.devices.at(0).allocated.time_ns, 100);
  EXPECT_EQ(memory.devices.at(0).holders->unknown_bytes, 2'000);
  ASSERT_EQ(memory.places.size(), 1U);
  EXPECT_EQ(memory.places.at(0).freed_bytes, 2'000) << "the allocations lie in another step";
}

TEST(Memory, AllocationsAreSummedByOperator) {
  Heap heap{0, {}};
  const MemorySection memory = memory_in(
      gpu_rank(0) + std::string{operators} +
      heap.take(50, 1, 100).take(115, 2, 4'000).take(116, 3, 30).give(130, 2).give(131, 1).take(140, 4, 10).text());
  ASSERT_EQ(memory.places.size(), 3U);
  const AllocationRow& empty = memory.places[0];
  EXPECT_EQ(empty.place, (AllocationPlace{"aten::empty", "aten::linear", ""}));
  EXPECT_EQ(empty.allocations, 2);
  EXPECT_EQ(empty.allocated_bytes, 4'030);
  EXPECT_EQ(empty.largest_bytes, 4'000);
  EXPECT_EQ(empty.net_bytes(), 4'030);
  EXPECT_EQ(memory.places[1].place, AllocationPlace{}) << "no operator";
  EXPECT_EQ(memory.places[2].place, (AllocationPlace{"aten::mm", "aten::linear", ""}));
  EXPECT_EQ(memory.places[2].releases, 2);
  EXPECT_EQ(memory.places[2].net_bytes(), 10 - 4'100);
}

TEST(Memory, WhatIsTakenFromTheDeviceAloneIsNotWhatIsAllocated) {
  const Report report = analyze(
      *run_of(gpu_rank(0) +
              "0 mark 10 [memory] \"Device Type\"=1 \"Device Id\"=0 Addr=1 Bytes=700 \"Total Reserved\"=700 lane=main\n"
              "0 compute 0 30 gemm lane=s7\n"),
      {});
  EXPECT_FALSE(report.memory->devices.at(0).allocated.bytes);
  EXPECT_EQ(report.rank_rows->at(0).peak_reserved_bytes, 700);
  EXPECT_EQ(report.rank_rows->at(0).why_no_memory, "only reserved memory was recorded, not allocated memory");
  EXPECT_TRUE(report.memory->places.empty());
}

TEST(Memory, OfTheHostIsNotThatOfTheDevice) {
  Heap heap{0, {}};
  const Report report =
      analyze(*run_of(gpu_rank(0) + heap.take(10, 1, 100).text() +
                      "0 mark 11 [memory] \"Device Type\"=0 \"Device Id\"=-1 Addr=9 Bytes=8000 \"Total "
                      "Allocated\"=8000 \"Total Reserved\"=0 lane=main\n0 counter 12 50000 rss_bytes\n"
                      "0 compute 0 30 gemm lane=s7\n"),
              {});
  ASSERT_EQ(report.memory->devices.size(), 2U);
  EXPECT_EQ(report.memory->devices[1].kind, MemoryKind::host);
  EXPECT_EQ(report.memory->devices[1].allocated.bytes, 8'000);
  EXPECT_EQ(report.memory->devices[1].reserved.why, "the host's allocator keeps nothing in reserve");
  EXPECT_EQ(report.rank_rows->at(0).peak_allocated_bytes, 100);
  EXPECT_EQ(report.memory->hosts.at(0).resident.bytes, 50'000);
}

TEST(Memory, OfOurOwnRecorderIsThatOfTheHost) {
  const MemorySection memory = memory_in(
      "0 op 0 50 aten::mm\n0 mark 10 [memory] address=64 bytes=700 allocated_bytes=900 lane=main\n"
      "0 counter 60 950 peak_allocated_bytes\n");
  EXPECT_EQ(memory.devices.at(0).kind, MemoryKind::host);
  EXPECT_EQ(memory.devices.at(0).allocated.bytes, 950) << "the allocator's own peak, between two marks";
  EXPECT_FALSE(memory.devices.at(0).allocated.time_ns);
  EXPECT_EQ(memory.devices.at(0).holders.error().why,
            "the peak lies between two samples, so it is not known what was allocated then");
}

TEST(Memory, PeersAreComparedByTheirPeaks) {
  Heap small{0, {}};
  Heap large{1, {}};
  const auto rank = [](std::uint32_t number) {
    return format("{0} step 0 100 step index=0 lane=main\n{0} op 0 90 op lane=main\n{0} compute 0 90 gemm lane=s7\n",
                  number);
  };
  const std::string text = "@run clock=same_host clock_error=1000\n" + gpu_rank(0) + rank(0) +
                           small.take(10, 1, 1'000).text() + gpu_rank(1) + rank(1) + large.take(10, 1, 3'000).text();
  const MemorySection memory = memory_in(text);
  ASSERT_EQ(memory.peers.size(), 1U);
  EXPECT_EQ(memory.peers[0].most, RankId{1});
  EXPECT_EQ(memory.peers[0].median_bytes, 2'000);
  EXPECT_DOUBLE_EQ(memory.peers[0].imbalance.value.value(), 1.5);
  ReportOptions one;
  one.ranks = {RankId{0}};
  EXPECT_EQ(memory_in(text, one).devices.size(), 1U);
  EXPECT_EQ(memory_in(text, one).peers.at(0).most_bytes, 3'000) << "a rank is compared with peers that are not shown";
  EXPECT_EQ(memory_in(text, one).places.at(0).allocated_bytes, 1'000);
}

TEST(Memory, ThatNobodyRecordedIsNotZero) {
  const Report report = analyze(*run_of("0 op 0 10 aten::mm\n"), {});
  EXPECT_EQ(report.memory.error().why, "no allocations or memory counters were recorded");
  EXPECT_EQ(report.rank_rows->at(0).why_no_memory, "no allocations or memory counters were recorded");
}

}  // namespace
}  // namespace rankscope::analyzer
