// Memory of real jobs: figures counted from the JSON of the traces by a program of its own.
#include <gtest/gtest.h>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "shared_data.h"

namespace rankscope {
namespace {

using analyzer::AllocationPlace;
using analyzer::MemoryKind;

struct Recorded {
  std::shared_ptr<const Run> run;
  analyzer::Report report;

  /// Time in the file, in microseconds.
  [[nodiscard]] std::int64_t file_us(std::int64_t time_ns) const {
    const std::string_view offset = run->metadata(run->processes().front(), "file_time_offset_ns");
    return (time_ns + leading_number<std::int64_t>(offset).value_or(0)) / 1000;
  }
};

Recorded recorded(const char* name) {
  if (!std::filesystem::exists(testing::shared_data() / "kineto")) return {};
  auto run = analyzer::open_run(testing::shared_data() / "kineto" / name);
  EXPECT_TRUE(run) << run.error().message;
  if (!run) return {};
  analyzer::Report report = analyzer::analyze(**run, {});
  return {*run, std::move(report)};
}

analyzer::AllocationRow sum_of(const analyzer::MemorySection& memory, MemoryKind kind) {
  analyzer::AllocationRow sum;
  for (const analyzer::AllocationRow& row : memory.places)
    if (row.kind == kind) sum += row;
  return sum;
}

std::int64_t sum_of(const analyzer::MemoryHolders& holders) {
  std::int64_t sum = holders.before_recording_bytes + holders.unknown_bytes;
  for (const analyzer::MemoryHolder& holder : holders.rows) sum += holder.bytes;
  return sum;
}

TEST(KinetoMemory, OfARankOfTwoOnAV100) {
  const Recorded ddp = recorded("ddp_v100_rank1of2/df_index_resolver.json.gz");
  if (!ddp.run) GTEST_SKIP() << testing::no_shared_data;
  ASSERT_TRUE(ddp.report.memory) << ddp.report.memory.error().why;
  ASSERT_EQ(ddp.report.memory->devices.size(), 2U);
  const analyzer::DeviceMemory& device = ddp.report.memory->devices[0];
  EXPECT_EQ(device.rank, RankId{1});
  EXPECT_EQ(device.device, 1);
  EXPECT_EQ(device.events, 26'770);
  EXPECT_EQ(device.allocated.bytes, 6'629'508'096);
  EXPECT_EQ(ddp.file_us(device.allocated.time_ns.value()), 1'669'783'687'579'130);
  EXPECT_EQ(device.allocated.step, 2);
  const std::string backward = "autograd::engine::evaluate_function: CompiledFunctionBackward";
  EXPECT_EQ(device.allocated.place, (AllocationPlace{"aten::empty", backward, ""}));
  EXPECT_EQ(device.reserved.bytes, 12'782'141'440);
  EXPECT_NEAR(device.unused.value.value(), 0.4813460540145611, 1e-12);
  EXPECT_EQ(device.total_bytes, 34'089'730'048);
  EXPECT_EQ(device.left_bytes, 21'307'588'608);
  EXPECT_EQ(device.released_unknown + device.reused + device.ignored, 0);

  const analyzer::MemoryHolders& holders = device.holders.value();
  EXPECT_EQ(holders.before_recording_bytes, 4'096'614'400);
  EXPECT_EQ(holders.rows.at(0).place, (AllocationPlace{"aten::mm", backward, ""}));
  EXPECT_EQ(holders.rows.at(0).bytes, 1'037'459'456);
  EXPECT_EQ(holders.rows.at(0).blocks, 143);
  EXPECT_EQ(holders.rows.at(1).place, (AllocationPlace{"aten::add", "CompiledFunction", ""}));
  EXPECT_EQ(holders.rows.at(1).bytes, 591'224'832);
  EXPECT_EQ(sum_of(holders), 6'629'508'096);

  const analyzer::AllocationRow sum = sum_of(*ddp.report.memory, MemoryKind::device);
  EXPECT_EQ(sum.allocations, 13'385);
  EXPECT_EQ(sum.allocated_bytes, 52'469'120'000);
  EXPECT_EQ(sum.freed_bytes, 52'469'120'000);
  EXPECT_EQ(ddp.report.memory->places.at(0).place, (AllocationPlace{"aten::mm", backward, ""}));
  EXPECT_EQ(ddp.report.memory->places.at(0).allocations, 1'470);
  EXPECT_EQ(ddp.report.memory->places.at(0).allocated_bytes, 8'921'169'920);
  EXPECT_EQ(ddp.report.memory->places.at(0).largest_bytes, 98'566'144);

  EXPECT_EQ(ddp.report.memory->devices[1].kind, MemoryKind::host);
  EXPECT_EQ(ddp.report.memory->devices[1].allocated.bytes, 8);
  EXPECT_EQ(ddp.report.rank_rows->at(0).peak_allocated_bytes, 6'629'508'096);
  EXPECT_EQ(ddp.report.rank_rows->at(0).peak_reserved_bytes, 12'782'141'440);
}

/// Changes only: neither addresses nor totals.
TEST(KinetoMemory, OfAnOldTraceIsGrowth) {
  const Recorded old = recorded("old_2021_resnet50/worker0.1623212756351.pt.trace.json.gz");
  if (!old.run) GTEST_SKIP() << testing::no_shared_data;
  ASSERT_TRUE(old.report.memory) << old.report.memory.error().why;
  ASSERT_EQ(old.report.memory->devices.size(), 2U);
  const analyzer::DeviceMemory& device = old.report.memory->devices[0];
  EXPECT_TRUE(device.changes_only);
  EXPECT_EQ(device.events, 8'280);
  EXPECT_EQ(device.allocated.bytes, 2'791'505'408);
  EXPECT_EQ(old.file_us(device.allocated.time_ns.value()), 1'623'212'388'541'705);
  EXPECT_EQ(device.allocated.step, 5);
  EXPECT_FALSE(device.left_bytes);
  EXPECT_FALSE(device.holders);
  EXPECT_EQ(old.report.memory->devices[1].allocated.bytes, 57'803'520);
  EXPECT_EQ(sum_of(*old.report.memory, MemoryKind::device).allocated_bytes, 62'648'853'504);
  EXPECT_EQ(sum_of(*old.report.memory, MemoryKind::device).freed_bytes, 62'648'853'504);
  EXPECT_FALSE(old.report.rank_rows->at(0).peak_allocated_bytes);
}

/// Traces without allocations say so.
TEST(KinetoMemory, ThatWasNotProfiledIsUnavailable) {
  const Recorded other = recorded("nccl_args_a100/nccl_data.json.gz");
  if (!other.run) GTEST_SKIP() << testing::no_shared_data;
  EXPECT_EQ(other.report.memory.error().why, "no allocations or memory counters were recorded");
}

}  // namespace
}  // namespace rankscope
