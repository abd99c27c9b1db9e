// What a report must not claim, on every recording that others made.
#include <gmock/gmock.h>

#include <algorithm>

#include "known_lacks.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "shared_data.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two ranks of one job, the only recording here of which ranks can be compared. Their clocks cannot.
constexpr std::string_view two_ranks = "kineto/recsys_2of128_ranks";

class SharedReports : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(SharedReports, ClaimNothingThatContradictsTheirReplay) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  const bool has_replay = !testing::lacks(GetParam(), testing::Lacks::times) && GetParam() != two_ranks;
  ASSERT_EQ(report.what_if.has_value(), has_replay);
  if (has_replay) {
    const analyzer::WhatIfSection& replay = *report.what_if;
    EXPECT_LE(replay.ideal_ns.value_or(0), replay.measured_ns) << "an ideal that is worse than what was measured";
    EXPECT_LE(replay.ideal_network_ns.value_or(0), replay.measured_ns);
    EXPECT_LE(replay.without_host_delay_ns, replay.measured_ns);
  }
  ASSERT_EQ(report.stragglers.has_value(), GetParam() == two_ranks || !testing::lacks_stragglers(GetParam()));
  if (!report.stragglers) return;
  for (const analyzer::Straggler& row : report.stragglers->rows) {
    if (!has_replay) {
      EXPECT_NE(row.why_no_gain, "") << "a gain needs a replay";
      EXPECT_LE(row.severity, analyzer::FindingSeverity::major);
      continue;
    }
    const auto replayed = std::ranges::find(report.what_if->ranks, row.rank, &analyzer::RankReplay::rank);
    if (row.gain_ns_per_step == 0) continue;
    ASSERT_NE(replayed, report.what_if->ranks.end());
    EXPECT_LE(row.gain_ns_per_step, report.what_if->replayed_ns - *replayed->without_rank_ns);
  }
}

/// Findings whose gains are differences between replays (metrics.md 20.1).
bool is_gain_replayed(const analyzer::Finding& finding) {
  return finding.id == analyzer::finding_id::data_loading ||
         finding.id == analyzer::finding_id::exposed_communication || finding.id == "efficiency.communication";
}

TEST_P(SharedReports, SaveNoMoreThanTheirReplayYields) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if (!report.findings || !report.steps) return;
  const bool has_replay = analyzer::why_no_replay(report.what_if).empty();
  for (const analyzer::Finding& finding : *report.findings) {
    SCOPED_TRACE(finding.id);
    if (!finding.why_no_gain.empty()) {
      EXPECT_EQ(finding.gain_ns_per_step, 0);
    }
    if (!is_gain_replayed(finding)) continue;
    if (!has_replay) {
      EXPECT_NE(finding.why_no_gain, "") << "a gain needs a replay";
    } else {
      EXPECT_LE(finding.gain_ns_per_step, report.what_if->replayed_ns);
    }
  }
  if (!report.what_if) return;
  for (const analyzer::RankReplay& rank : report.what_if->ranks)
    EXPECT_NE(rank.without_rank_ns.has_value(), !rank.why_unknown.empty()) << rank.rank.value;
}

/// Ranks that were not recorded are said in the verdict; those that were can still be judged.
bool lost_data(const analyzer::Report& report) {
  return std::ranges::any_of(report.data_quality, [](const analyzer::QualityRow& row) {
    return row.counter != Counter::ranks_missing && info_of(row.counter).severity == Severity::data_loss;
  });
}

/// True if some rank has no communication in its steps.
bool lacks_communication(const analyzer::Report& report) {
  return report.rank_rows && report.ranks.size() > 1 &&
         std::ranges::any_of(*report.rank_rows, [](const analyzer::RankRow& row) { return row.total.comm_ns == 0; });
}

TEST_P(SharedReports, ClaimNeitherEfficiencyNorHealthWithoutEvidence) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  if ((*run)->collectives().empty()) {
    EXPECT_FALSE(report.efficiency) << "how well ranks work together is not known";
  }
  const bool tells = report.stragglers && report.stragglers->cannot_tell.empty();
  if (tells && !lost_data(report) && !lacks_communication(report)) return;
  const std::string text = analyzer::render_text(report, **run, {}, analyzer::Colour::no);
  for (const char* claim : {"No problem found", "would be found", "would have been found"})
    EXPECT_THAT(text, Not(HasSubstr(claim)));
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedReports, ::testing::ValuesIn(testing::shared_recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

/// Without a path: there are no recordings here.
std::string folder_of_two_ranks() {
  return std::filesystem::exists(testing::shared_data() / two_ranks) ? std::string{two_ranks} : std::string{};
}
INSTANTIATE_TEST_SUITE_P(SharedFolder, SharedReports, ::testing::Values(folder_of_two_ranks()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope
