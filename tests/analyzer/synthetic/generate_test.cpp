// The truth of a synthetic recording is found in it again.
#include "synthetic/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "support/synthetic_recording.h"

namespace rankscope::analyzer {
namespace {

using rankscope::testing::recorded;
using synthetic::fault_from;
using synthetic::Plan;

Plan data_parallel(std::vector<synthetic::Fault> faults) {
  Plan plan;
  plan.ranks = 8;
  plan.steps = 25;
  plan.gap_ns = 5'000;
  plan.pick_up_ns = 20'000;
  plan.faults = std::move(faults);
  return plan;
}

Report report_of(const Plan& plan) { return analyze(*recorded(plan), {}); }

TEST(SyntheticRecording, HasNoSlowRankWhereNothingWasBroken) {
  const Report report = report_of(data_parallel({}));
  ASSERT_TRUE(report.stragglers);
  EXPECT_TRUE(report.stragglers->rows.empty());
  EXPECT_TRUE(report.data_quality.empty());
  EXPECT_EQ(report.collectives->unmatched, 0);
  EXPECT_EQ(report.steps->steps.size(), 25U);
}

TEST(SyntheticRecording, HasTheSlowRankThatWasAskedFor) {
  const Report report = report_of(data_parallel({fault_from("slow:rank=5,factor=1.4")}));
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->rows[0].rank, RankId{5});
  EXPECT_EQ(report.stragglers->rows[0].kind, StragglerKind::compute);
  EXPECT_NEAR(report.stragglers->rows[0].slowdown, 1.4, 0.05);
}

TEST(SyntheticRecording, HasTheKindOfFaultThatWasAskedFor) {
  const std::pair<const char*, StragglerKind> cases[] = {{"data:rank=2,ms=9", StragglerKind::data},
                                                         {"pause:rank=2,ms=9", StragglerKind::host},
                                                         {"comm:rank=2,ms=9", StragglerKind::network}};
  for (const auto& [fault, kind] : cases) {
    const Report report = report_of(data_parallel({fault_from(fault)}));
    ASSERT_EQ(report.stragglers->rows.size(), 1U) << fault;
    EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2}) << fault;
    EXPECT_EQ(report.stragglers->rows[0].kind, kind) << fault;
  }
}

TEST(SyntheticRecording, ManyClassesOfPeersAreCountedAndNotListed) {
  Plan plan = data_parallel({fault_from("slow:rank=6,factor=1.4")});
  plan.ranks = 16;
  plan.pp = 4;
  plan.micro_batches = 4;
  const Report report = report_of(plan);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->rows[0].rank, RankId{6});
  EXPECT_EQ(
      report.stragglers->compared,
      "Each rank is compared with 3 peers of its class; there are 4 classes, from pp_rank 0 to pp_rank 3; the times "
      "are medians of 25 steps.");
}

TEST(SyntheticRecording, IsTheSameForTheSameSeed) {
  const rankscope::testing::TemporaryFolder folder;
  Plan plan = data_parallel({});
  plan.steps = 2;
  const auto bytes_of = [&](std::uint64_t seed) {
    plan.seed = seed;
    synthetic::generate(plan, folder.path() / "a.rankscope");
    std::ifstream file{folder.path() / "a.rankscope/segments/node000-3.rseg", std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  EXPECT_EQ(bytes_of(7), bytes_of(7));
  EXPECT_NE(bytes_of(7), bytes_of(8));
}

TEST(SyntheticRecording, KnowsGroupsOfAThousandRanks) {
  Plan plan = data_parallel({});
  plan.ranks = 1024;
  plan.steps = 1;
  plan.operators = 1;
  const auto run = recorded(plan);
  ASSERT_EQ(run->groups().size(), 1U);
  EXPECT_EQ(run->groups()[0].members.size(), 1024U);
  for (const CounterInfo& counter : counter_table()) EXPECT_EQ(run->quality().of(counter.counter), 0U) << counter.name;
}

TEST(SyntheticRecording, RefusesPlansThatCannotBe) {
  Plan plan;
  plan.pp = 3;
  EXPECT_NE(why_impossible(plan), "");
  EXPECT_THROW((void)fault_from("slow:speed=3"), std::invalid_argument);
  EXPECT_THROW((void)fault_from("rank=3"), std::invalid_argument);
}

}  // namespace
}  // namespace rankscope::analyzer
