// What is concluded from recordings of real GPUs whose fault is known.
#include <gtest/gtest.h>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Run> opened(std::string_view name) {
  const std::vector<fs::path> paths{fs::path{RANKSCOPE_GOLDEN} / "recordings" / name};
  const auto run = open_run(paths, {});
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

/// DDP of PyTorch 2.11 on NCCL over sockets: two ranks share an H200, and rank 1 sleeps for 30 ms in each step, in line
/// 10 of ddp.py.
TEST(RecordingsOfGpus, TheRankThatSleepsIsNamedWithItsLineOfCode) {
  const auto run = opened("h200_rank_1_sleeps.rankscope.tar.zst");
  ASSERT_NE(run, nullptr);
  const Report report = analyze(*run, {});
  ASSERT_TRUE(report.stragglers);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  const Straggler& slow = report.stragglers->rows.front();
  EXPECT_EQ(slow.rank, RankId{1});
  EXPECT_EQ(slow.kind, StragglerKind::host);
  ASSERT_TRUE(slow.code);
  EXPECT_EQ(slow.code->file, "ddp.py");
  EXPECT_EQ(slow.code->line, 10);
  EXPECT_NEAR(static_cast<double>(slow.code->ns_per_step), 30e6, 3e6);
}

TEST(RecordingsOfGpus, ALauncherLongNamesOfKernelsAndASharedGpuAreNoErrors) {
  const auto run = opened("h200_rank_1_sleeps.rankscope.tar.zst");
  ASSERT_NE(run, nullptr);
  const Report report = analyze(*run, {});
  for (const QualityRow& row : report.data_quality)
    EXPECT_EQ(info_of(row.counter).severity, Severity::info) << info_of(row.counter).name << " " << row.value;
  ASSERT_TRUE(report.collectives);
  EXPECT_EQ(report.collectives->matched, 168);
  EXPECT_EQ(report.collectives->unmatched, 0);
  EXPECT_EQ(run->info().clock.method, "same_host");
}

}  // namespace
}  // namespace rankscope::analyzer
