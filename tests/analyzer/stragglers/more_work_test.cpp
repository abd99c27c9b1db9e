#include <gmock/gmock.h>

#include <sstream>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::StepPlan;
using testing::SyntheticRun;

/// Rank 1 of four takes longer in forward; ranks call aten::flip that often in each, for 3 ms a time.
Report report_on(int own_calls, int calls_of_peers, const std::string& extra = {}) {
  SyntheticRun plan;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) {
    if (rank == 1) step.forward *= 2;
  };
  std::istringstream lines{text_of(plan)};
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += line + "\n";
    if (!line.ends_with("forward_block")) continue;
    std::istringstream words{line};
    std::uint32_t rank = 0;
    std::string kind;
    std::int64_t begin = 0;
    words >> rank >> kind >> begin;
    for (int call = 0; call < (rank == 1 ? own_calls : calls_of_peers); ++call)
      text += format("{} op {} {} aten::flip\n", rank, begin + 1'000 + call * 3'000'000,
                     begin + 1'000 + (call + 1) * 3'000'000);
  }
  return analyze(*testing::run_of(text + extra), {});
}

TEST(MoreWork, IsTheOperatorThatTheSlowRankAloneCalls) {
  const Report report = report_on(8, 0);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  const Straggler& row = report.stragglers->rows.front();
  ASSERT_TRUE(row.more_work);
  EXPECT_EQ(row.more_work->op, "aten::flip");
  EXPECT_DOUBLE_EQ(row.more_work->calls_per_step, 8);
  EXPECT_DOUBLE_EQ(row.more_work->peers_calls_per_step, 0);
  EXPECT_NEAR(static_cast<double>(row.more_work->ns_per_step), 24e6, 1e5);
  const Verdict verdict = verdict_of(report);
  EXPECT_THAT(verdict.headline, HasSubstr("it has more to compute than its peers"));
  EXPECT_THAT(verdict.more,
              ::testing::Contains(HasSubstr("It calls aten::flip 8 times per step (24.0 ms), its peers never")));
}

TEST(MoreWork, IsNotToldByTheHostOfAnAccelerator) {
  std::string kernels;
  for (std::uint32_t rank = 0; rank < 4; ++rank) kernels += format("{} compute 1000 2000 gemm lane=s7\n", rank);
  const Report report = report_on(8, 0, kernels);
  ASSERT_TRUE(report.stragglers);
  for (const Straggler& row : report.stragglers->rows) EXPECT_FALSE(row.more_work);
}

TEST(MoreWork, IsNoneWhereThePeersCallItAsOften) {
  const Report report = report_on(8, 8);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_FALSE(report.stragglers->rows.front().more_work);
  EXPECT_THAT(verdict_of(report).headline, Not(HasSubstr("more to compute")));
}

}  // namespace
}  // namespace rankscope::analyzer
