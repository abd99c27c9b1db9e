#include <gmock/gmock.h>

#include <algorithm>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;

/// Three ranks without steps, which all meet after a long start-up; after it a rank comes late to each operation.
Report report_on(std::uint32_t late_rank(std::int64_t operation)) {
  std::string text = "@run clock=same_host world_size=3\n@group dp 0,1,2\n";
  std::int64_t time = 0;
  for (std::int64_t operation = 0; operation < 40; ++operation) {
    const std::int64_t late_ns = operation == 0 ? 900'000'000 : 6'000'000;
    const std::uint32_t late = operation == 0 ? 2 : late_rank(operation);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const std::int64_t begin = time + (rank == late ? late_ns : 0);
      text += format("{} op {} {} work\n", rank, time, begin + 1'000'000);
      text += format("{} comm {} {} allreduce group=dp seq={} bytes=4000000\n", rank, begin + 1'000'000,
                     time + late_ns + 3'000'000, operation);
    }
    time += late_ns + 4'000'000;
  }
  return analyze(*testing::run_of(text), {});
}

const Finding* waited_for(const Report& report) {
  const auto found = std::ranges::find(*report.findings, "waited_for", &Finding::id);
  return found == report.findings->end() ? nullptr : &*found;
}

TEST(BlameRules, WithoutStepsARankThatTheOthersAlwaysWaitForLeadsTheVerdict) {
  const Report report = report_on([](std::int64_t) { return 1U; });
  ASSERT_FALSE(report.steps);
  const Finding* const finding = waited_for(report);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->rank, RankId{1});
  EXPECT_THAT(finding->evidence, HasSubstr("this rank causes 100 % of the remaining waiting"));
  EXPECT_THAT(verdict_of(report).headline, HasSubstr("other ranks wait for rank 1 in 39 of 40 operations"));
}

TEST(BlameRules, RanksThatAreLateInTurnAreNotNamedNorIsTheOneThatStartedLast) {
  EXPECT_EQ(waited_for(report_on([](std::int64_t operation) { return static_cast<std::uint32_t>(operation % 3); })),
            nullptr);
}

/// Start-up, for which rank 1 waits for rank 2 and then rank 0 for rank 1; after it rank 1 is late by 6 ms and, now and
/// then, rank 2 by 0.1 ms.
TEST(BlameRules, AStartUpThatWasHandedOnNamesNobody) {
  std::string text = "@run clock=same_host world_size=3\n@group late 1,2\n@group first 0,1\n@group dp 0,1,2\n";
  const auto member = [](std::uint32_t rank, std::string_view group, std::int64_t from, std::int64_t to,
                         std::int64_t seq) {
    return format("{} comm {} {} allreduce group={} seq={} bytes=4000000\n", rank, from, to, group, seq);
  };
  constexpr std::int64_t start_up_ns = 60'000'000'000;
  text +=
      member(1, "late", 1'000, start_up_ns + 1'000'000, 0) + member(2, "late", start_up_ns, start_up_ns + 1'000'000, 0);
  text += member(0, "first", 1'000, start_up_ns + 3'000'000, 0) +
          member(1, "first", start_up_ns + 2'000'000, start_up_ns + 3'000'000, 0);
  std::int64_t time = start_up_ns + 4'000'000;
  for (std::int64_t operation = 0; operation < 40; ++operation) {
    const std::uint32_t late = operation % 4 == 0 ? 1 : 2;
    const std::int64_t late_ns = late == 1 ? 6'000'000 : 100'000;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const std::int64_t begin = time + (rank == late ? late_ns : 0);
      text += format("{} op {} {} work\n", rank, time, begin + 1'000'000);
      text += member(rank, "dp", begin + 1'000'000, time + late_ns + 3'000'000, operation);
    }
    time += late_ns + 4'000'000;
  }
  const Report report = analyze(*testing::run_of(text), {});
  ASSERT_TRUE(report.blame) << report.blame.error().why;
  for (const BlameRow& row : report.blame->rows) {
    EXPECT_GE(row.longest_ns, 0);
    EXPECT_LE(row.longest_ns, row.cost_ns()) << "of rank " << row.rank.value;
  }
  EXPECT_EQ(waited_for(report), nullptr);
}

TEST(BlameRules, WithoutStepsTheWhatIfTableClaimsNoIdeal) {
  const Report report = report_on([](std::int64_t) { return 1U; });
  ASSERT_TRUE(report.what_if) << report.what_if.error().why;
  EXPECT_FALSE(report.what_if->ideal_ns);
}

}  // namespace
}  // namespace rankscope::analyzer
