// Numbers that must add up, on every recording that others made.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "known_lacks.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "shared_data.h"

namespace rankscope {
namespace {

using testing::Lacks;

class SharedRecordings : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
  [[nodiscard]] static bool lacks(Lacks what) { return testing::lacks(GetParam(), what); }
};

TEST_P(SharedRecordings, SplitTheirTimeExactly) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << "none of them was ever refused: " << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (lacks(Lacks::times)) {
    ASSERT_FALSE(report.rank_rows);
    GTEST_SKIP() << "no time to split: " << report.rank_rows.error().why;
  }
  ASSERT_TRUE(report.rank_rows) << report.rank_rows.error().why;
  for (const analyzer::RankRow& row : *report.rank_rows) {
    const analyzer::TimeSplit& split = row.total;
    EXPECT_EQ(split.compute_ns + split.exposed_comm_ns + split.memory_ns + split.idle_ns, split.window_ns);
    EXPECT_EQ(split.exposed_comm_ns + split.overlapped_comm_ns, split.comm_ns);
    EXPECT_EQ(split.wait_ns + split.transfer_ns + split.unsplit_ns, split.comm_ns);
    std::int64_t causes = 0;
    for (const std::int64_t cause : split.idle_causes_ns) causes += cause;
    EXPECT_EQ(causes, split.idle_ns);
    if (!(*run)->has_accelerator(row.rank)) continue;
    std::array<std::int64_t, analyzer::idle_cause_count> shares{};
    for (const analyzer::IdleShare& share : row.idle_shares) shares[static_cast<std::size_t>(share.cause)] += share.ns;
    EXPECT_EQ(shares, split.idle_causes_ns);
  }
}

TEST_P(SharedRecordings, ChargeTheirBusyTimeToKernelsExactly) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (lacks(Lacks::kernels)) {
    ASSERT_FALSE(report.kernels);
    GTEST_SKIP() << report.kernels.error().why;
  }
  ASSERT_TRUE(report.kernels) << report.kernels.error().why;
  for (const analyzer::RankKernels& rank : report.kernels->ranks) {
    const auto row = std::ranges::find(*report.rank_rows, rank.rank, &analyzer::RankRow::rank);
    std::int64_t exclusive = 0;
    for (const analyzer::RankKernelRow& kernel : rank.names) exclusive += kernel.times.exclusive_ns;
    EXPECT_EQ(exclusive, row->total.window_ns - row->total.idle_ns);
    EXPECT_EQ(rank.exclusive_ns, exclusive);
    EXPECT_EQ(rank.window_ns, row->total.window_ns);
    EXPECT_EQ(std::accumulate(rank.together.begin(), rank.together.end(), std::int64_t{0}), rank.window_ns);
    EXPECT_EQ(rank.together[1] + rank.together[3] + rank.together[5] + rank.together[7], row->total.compute_ns);
  }
  const auto exclusive_of = [](const std::vector<analyzer::KernelRow>& rows) {
    return analyzer::rest_of(std::span{rows}, 0).exclusive_ns;
  };
  EXPECT_EQ(exclusive_of(report.kernels->names), report.kernels->exclusive_ns);
  EXPECT_EQ(exclusive_of(report.kernels->keys), report.kernels->exclusive_ns);
}

TEST_P(SharedRecordings, ChargeTheirCommunicationToOperationsExactly) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (lacks(Lacks::times)) {
    ASSERT_FALSE(report.rank_rows);
    EXPECT_FALSE(report.overlap);
    return;
  }
  ASSERT_TRUE(report.rank_rows) << report.rank_rows.error().why;
  std::int64_t comm = 0;
  std::int64_t overlapped = 0;
  for (const analyzer::RankRow& row : *report.rank_rows) {
    comm += row.total.comm_ns;
    overlapped += row.total.overlapped_comm_ns;
  }
  ASSERT_EQ(report.overlap.has_value(), !lacks(Lacks::communication));
  if (report.overlap) {
    for (const analyzer::OverlapRow& row : report.overlap->rows) {
      comm -= row.comm_ns;
      overlapped -= row.overlapped_ns;
    }
  }
  EXPECT_EQ(comm, 0) << "all communication has a row, also where there is no section";
  EXPECT_EQ(overlapped, 0);
}

TEST_P(SharedRecordings, ChargeTheirBusyTimeToOperatorsExactly) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (lacks(Lacks::operators)) {
    ASSERT_FALSE(report.operators);
    GTEST_SKIP() << report.operators.error().why;
  }
  ASSERT_TRUE(report.operators) << report.operators.error().why;
  const analyzer::OperatorsSection& section = *report.operators;
  ASSERT_EQ(report.kernels.has_value(), !lacks(Lacks::kernels));
  if (report.kernels) {
    EXPECT_EQ(section.device_ns, report.kernels->exclusive_ns);
  }
  for (const analyzer::OperatorTable* table : {&section.operators, &section.annotations}) {
    std::int64_t device = table->outside_device_ns;
    for (const analyzer::OperatorRow& row : table->rows) {
      device += row.times.device_ns;
      EXPECT_LE(row.times.self_ns, row.times.total_ns) << row.name;
      EXPECT_LE(row.times.device_ns, row.times.device_total_ns) << row.name;
      analyzer::ShapeRow shapes;
      for (const analyzer::ShapeRow& shape : row.shapes) {
        shapes.calls += shape.calls;
        shapes.self_ns += shape.self_ns;
        shapes.device_ns += shape.device_ns;
      }
      if (row.shapes.empty()) continue;
      EXPECT_EQ(shapes.calls, row.times.calls) << row.name;
      EXPECT_EQ(shapes.self_ns, row.times.self_ns) << row.name;
      EXPECT_EQ(shapes.device_ns, row.times.device_ns) << row.name;
    }
    EXPECT_EQ(device, section.device_ns);
  }
}

TEST_P(SharedRecordings, LadderAndComputePartsAddUp) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (lacks(Lacks::times)) {
    ASSERT_FALSE(report.rank_rows);
    GTEST_SKIP() << "no time to split: " << report.rank_rows.error().why;
  }
  ASSERT_TRUE(report.flops) << report.flops.error().why;
  std::int64_t windows = 0;
  for (const analyzer::RankFlops& rank : report.flops->ranks) {
    windows += rank.window_ns;
    const std::int64_t parts = std::accumulate(rank.compute_parts.begin(), rank.compute_parts.end(), std::int64_t{0});
    if (rank.accelerator) {
      EXPECT_EQ(parts, rank.compute_ns);
    }
  }
  ASSERT_GT(windows, 0);
  ASSERT_TRUE(report.flops->ladder) << report.flops->ladder.error().why;
  std::int64_t ladder = 0;
  for (const analyzer::LadderPart& part : report.flops->ladder->parts) {
    EXPECT_GE(part.ns, 0) << name_of(part.step);
    ladder += part.ns;
  }
  EXPECT_EQ(ladder, windows);
}

TEST_P(SharedRecordings, ReplayExactlyAndTheirPathTilesEachStep) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (lacks(Lacks::times)) {
    ASSERT_FALSE(report.critical_path);
    GTEST_SKIP() << "nothing to replay: " << report.critical_path.error().why;
  }
  ASSERT_TRUE(report.critical_path) << report.critical_path.error().why;
  const analyzer::CriticalPathSection& path = *report.critical_path;
  EXPECT_EQ(std::accumulate(path.sums_ns.begin(), path.sums_ns.end(), std::int64_t{0}), path.length_ns);
  std::int64_t ranks = 0;
  for (const analyzer::PathOfRank& rank : path.ranks) ranks += rank.ns;
  EXPECT_EQ(ranks, path.length_ns);
  for (const analyzer::PathStep& step : path.steps) {
    if (path.whole_recording) {
      EXPECT_EQ(step.length_ns, report.duration_ns);
      continue;
    }
    const auto found = std::ranges::find(report.steps->steps, step.index, &analyzer::Step::index);
    ASSERT_NE(found, report.steps->steps.end());
    EXPECT_EQ(step.length_ns, found->wall_ns);
  }
  ASSERT_TRUE(report.what_if) << report.what_if.error().why;
  EXPECT_EQ(report.what_if->replay_error, 0);
}

TEST_P(SharedRecordings, ChargeTheirWaitingAndMultiplyTheirEfficiencyExactly) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  ASSERT_EQ(report.efficiency.has_value(), !testing::lacks_efficiency(GetParam()));
  if (report.efficiency) {
    const analyzer::EfficiencyFactors& factors = report.efficiency->run;
    EXPECT_NEAR(factors.load_balance() * factors.communication() * factors.orchestration(), factors.parallel(), 1e-12);
    const auto& ledger = report.efficiency->ledger;
    EXPECT_EQ(std::accumulate(ledger.begin(), ledger.end(), std::int64_t{0}), report.efficiency->whole_ns);
  }
  if (lacks(Lacks::several_ranks)) {
    ASSERT_FALSE(report.blame);
    GTEST_SKIP() << report.blame.error().why;
  }
  ASSERT_TRUE(report.blame) << report.blame.error().why;
  std::int64_t exposed = 0;
  for (const analyzer::RankRow& row : *report.rank_rows) exposed += row.total.exposed_wait_ns;
  EXPECT_EQ(report.blame->total_ns + report.blame->partial_ns, exposed);
  std::int64_t charged = report.blame->unknown_ns;
  for (const analyzer::BlameRow& row : report.blame->rows) charged += row.cost_ns();
  EXPECT_EQ(charged, report.blame->total_ns);
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedRecordings, ::testing::ValuesIn(testing::shared_recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope
