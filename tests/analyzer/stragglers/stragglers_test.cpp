#include <gtest/gtest.h>

#include <array>
#include <random>
#include <regex>
#include <string>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

using testing::make;
using testing::StepPlan;
using testing::SyntheticRun;

/// The sentences of the verdict in one line.
std::string verdict_text(const Report& report) {
  const Verdict verdict = verdict_of(report);
  std::string text = verdict.headline;
  for (const std::string& more : verdict.more) text += " " + more;
  return text;
}

StragglersSection stragglers_of(const SyntheticRun& plan) {
  const Report report = analyze(*make(plan), {});
  EXPECT_TRUE(report.stragglers) << report.stragglers.error().why;
  return report.stragglers.value_or(StragglersSection{});
}

/// The only row of a section, which must be this one.
Straggler only(const StragglersSection& section, RankId rank, StragglerKind kind, Persistence persistence) {
  EXPECT_EQ(section.rows.size(), 1U);
  if (section.rows.empty()) return {};
  EXPECT_EQ(section.rows[0].rank, rank) << section.rows[0].evidence;
  EXPECT_EQ(section.rows[0].kind, kind) << section.rows[0].evidence;
  EXPECT_EQ(section.rows[0].persistence, persistence) << section.rows[0].evidence;
  return section.rows[0];
}

SyntheticRun slow_rank(double factor) {
  SyntheticRun plan;
  plan.fault = [factor](StepPlan& step, std::uint32_t rank, std::int64_t) {
    if (rank != 2) return;
    step.forward *= factor;
    step.backward *= factor;
    step.optimizer *= factor;
  };
  return plan;
}

TEST(Stragglers, CleanRunsHaveNone) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SyntheticRun plan;
      plan.ranks = ranks;
      plan.noise = 0.02;
      plan.seed = seed;
      const StragglersSection section = stragglers_of(plan);
      EXPECT_TRUE(section.rows.empty()) << ranks << " ranks, seed " << seed << ": " << section.rows[0].evidence;
    }
  }
}

TEST(Stragglers, ASlowRankIsNamedWithItsSlowdown) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SyntheticRun plan = slow_rank(1.5);
    plan.seed = seed;
    const Straggler row = only(stragglers_of(plan), RankId{2}, StragglerKind::compute, Persistence::persistent);
    // 1 + (f - 1) C / x with 95 ms of compute in 100 ms of own time.
    EXPECT_NEAR(row.slowdown, 1 + 0.5 * 95 / 100.1, 0.05);
    EXPECT_EQ(row.certainty, Certainty::fact);
    EXPECT_EQ(row.severity, FindingSeverity::major) << "few steps";
    EXPECT_NE(row.evidence.find("rank 2 computes 14"), std::string::npos) << row.evidence;
  }
}

TEST(Stragglers, ManyStepsAllowTheHighestSeverity) {
  SyntheticRun plan = slow_rank(1.5);
  plan.steps = 30;
  EXPECT_EQ(stragglers_of(plan).rows.at(0).severity, FindingSeverity::critical);
}

TEST(Stragglers, ASlowLoaderIsKindData) {
  SyntheticRun plan;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data += rank == 1 ? 30 : 0; };
  only(stragglers_of(plan), RankId{1}, StragglerKind::data, Persistence::persistent);
}

TEST(Stragglers, CommunicationHeldBackIsKindNetwork) {
  SyntheticRun plan;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.comm_delay = rank == 0 ? 20 : 0; };
  const Straggler row = only(stragglers_of(plan), RankId{0}, StragglerKind::network, Persistence::persistent);
  EXPECT_NEAR(row.slowdown, 1.2, 0.05);
}

TEST(Stragglers, APauseNowAndThenIsTransientAndHost) {
  for (const std::int64_t steps : {20, 40}) {
    for (const std::int64_t first : {5, 9}) {
      SyntheticRun plan;
      plan.steps = steps;
      plan.fault = [first](StepPlan& step, std::uint32_t rank, std::int64_t index) {
        step.stall = rank == 3 && index % 10 == first ? 200 : 0;
      };
      const Straggler row = only(stragglers_of(plan), RankId{3}, StragglerKind::host, Persistence::transient);
      EXPECT_NE(row.evidence.find("every 10 steps"), std::string::npos) << row.evidence;
    }
  }
}

TEST(Stragglers, OfTwoRanksOneIsSlowerButNotProvenAbnormal) {
  SyntheticRun plan = slow_rank(1.5);
  plan.ranks = 3;
  EXPECT_EQ(stragglers_of(plan).rows.at(0).certainty, Certainty::of_three);
  plan.ranks = 2;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.forward *= rank == 1 ? 2 : 1; };
  const Straggler row = only(stragglers_of(plan), RankId{1}, StragglerKind::compute, Persistence::persistent);
  EXPECT_EQ(row.certainty, Certainty::of_two);
  EXPECT_EQ(row.severity, FindingSeverity::major);
}

TEST(Stragglers, OfTwoRanksACauseThatOneHasAloneIsTheSecondProof) {
  SyntheticRun plan;
  plan.ranks = 2;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data = rank == 1 ? 40 : 0; };
  EXPECT_EQ(only(stragglers_of(plan), RankId{1}, StragglerKind::data, Persistence::persistent).certainty,
            Certainty::fact);
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data = rank == 1 ? 40 : 0.5; };
  EXPECT_EQ(only(stragglers_of(plan), RankId{1}, StragglerKind::data, Persistence::persistent).certainty,
            Certainty::of_two)
      << "both wait for data, one longer";
}

TEST(Stragglers, OfTwoRanksATenthIsNotReported) {
  SyntheticRun plan;
  plan.ranks = 2;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.forward *= rank == 1 ? 1.3 : 1; };
  EXPECT_TRUE(stragglers_of(plan).rows.empty());
}

TEST(Stragglers, NoiseThatHidesThemIsSaid) {
  SyntheticRun plan;
  plan.noise = 0.4;
  plan.steps = 10;
  const StragglersSection section = stragglers_of(plan);
  EXPECT_NE(section.cannot_tell.find("% cannot be detected"), std::string::npos) << section.cannot_tell;
}

TEST(Stragglers, AQuietRunStatesWhatItWouldHaveFound) {
  const StragglersSection section = stragglers_of({});
  EXPECT_TRUE(section.cannot_tell.empty()) << section.cannot_tell;
  EXPECT_NEAR(section.smallest_detectable.value_or(0), 1.06, 0.02);
  EXPECT_EQ(section.compared,
            "Each rank is compared with 3 peers; the times are medians of 20 steps. There are few "
            "steps, so the severity is at most major.");
}

SyntheticRun slow_from(std::int64_t first, std::int64_t steps) {
  SyntheticRun plan;
  plan.steps = steps;
  plan.fault = [first](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    const double factor = rank == 3 && index >= first ? 2 : 1;
    step.forward *= factor;
    step.backward *= factor;
  };
  return plan;
}

TEST(Stragglers, ARankThatBecomesSlowLateIsNamedWithTheStep) {
  for (const std::int64_t first : {45, 55, 70, 85}) {
    const Straggler row =
        only(stragglers_of(slow_from(first, 100)), RankId{3}, StragglerKind::compute, Persistence::persistent);
    EXPECT_EQ(row.since_step, first) << row.evidence;
    EXPECT_EQ(row.until_step, std::nullopt);
    EXPECT_NEAR(row.slowdown, 1.9, 0.05);
    EXPECT_NEAR(static_cast<double>(row.gain_ns_while_slow), 90e6, 3e6);
    EXPECT_NEAR(static_cast<double>(row.gain_ns_per_step),
                static_cast<double>(row.gain_ns_while_slow * (100 - first)) / 100,
                static_cast<double>(row.gain_ns_per_step) / 200)
        << "the other steps hardly change";
    // Steps of 100 ms and of 190 ms: what is given back is a part of the long ones.
    EXPECT_NEAR(static_cast<double>(row.gain_ns_while_slow) / static_cast<double>(row.step_ns_while_slow), 0.46, 0.04);
  }
}

TEST(Stragglers, OfTwoRanksTheOneThatBecomesSlowLateIsTheSlower) {
  SyntheticRun plan = slow_from(70, 100);
  plan.ranks = 2;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    step.forward *= rank == 1 && index >= 70 ? 3 : 1;
  };
  const Straggler row = only(stragglers_of(plan), RankId{1}, StragglerKind::compute, Persistence::persistent);
  EXPECT_EQ(row.since_step, 70);
  EXPECT_EQ(row.certainty, Certainty::of_two);
}

TEST(Stragglers, StallsInOnePieceAreNotNowAndThen) {
  SyntheticRun plan;
  plan.steps = 100;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    step.forward *= rank == 1 && index >= 60 && index < 65 ? 3 : 1;
  };
  const Straggler row = only(stragglers_of(plan), RankId{1}, StragglerKind::compute, Persistence::transient);
  EXPECT_EQ(row.since_step, 60);
  EXPECT_EQ(row.until_step, 64);
}

TEST(Stragglers, RanksThatSplitTheSameLayersAreComparedWhereThereAreNoCopies) {
  SyntheticRun plan = slow_rank(1.5);
  for (int rank = 0; rank < 4; ++rank) plan.head += format("@rank {0} pid={0} meta.tp_rank={0}\n", rank);
  only(stragglers_of(plan), RankId{2}, StragglerKind::compute, Persistence::persistent);
}

TEST(Stragglers, ARankThatIsNotShownIsStillNamed) {
  ReportOptions options;
  options.ranks = {RankId{0}, RankId{1}};
  const Report report = analyze(*make(slow_rank(1.5)), options);
  EXPECT_TRUE(report.stragglers->rows.empty());
  ASSERT_EQ(report.asked_for.slow_ranks_left_out.size(), 1U);
  EXPECT_EQ(report.asked_for.slow_ranks_left_out.front().rank, RankId{2});
  EXPECT_EQ(report.asked_for.slow_ranks_left_out.front().kind, StragglerKind::compute);
}

TEST(Stragglers, ARankThatIsSlowAllTheTimeHasNoFirstStep) {
  const Straggler row =
      only(stragglers_of(slow_from(0, 100)), RankId{3}, StragglerKind::compute, Persistence::persistent);
  EXPECT_EQ(row.since_step, std::nullopt);
  EXPECT_EQ(row.gain_ns_while_slow, 0);
}

TEST(Stragglers, TheSizeIsThatOfAllStepsAndNotOnlyOfTheWorst) {
  SyntheticRun plan;
  plan.steps = 5;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    constexpr std::array slow{1.5, 1.5, 1.6, 2.0, 2.4};
    const bool both = index < 2;  // rank 0, too, so that rank 2 does not stand out
    const double factor = rank == 2 || (rank == 0 && both) ? slow.at(static_cast<std::size_t>(index)) : 1;
    step.forward *= factor;
    step.backward *= factor;
    step.optimizer *= factor;
  };
  ReportOptions options;
  options.include_warm_up = true;
  const Report report = analyze(*make(plan), options);
  ASSERT_EQ(report.steps->steps.size(), 5U);
  const Straggler row = only(*report.stragglers, RankId{2}, StragglerKind::compute, Persistence::persistent);
  EXPECT_NEAR(row.slowdown, 1.6, 0.05);
  EXPECT_NE(row.evidence.find("over 5 steps; above the limit in 3 of 5 comparison windows of 1 step"),
            std::string::npos)
      << row.evidence;
  EXPECT_EQ(row.since_step, std::nullopt) << "so few steps do not show when it began";
}

TEST(Stragglers, ARankThatIsSlowInAThirdOfTheStepsHasTheSizeOfTheWindowsInWhichItIs) {
  SyntheticRun plan;
  plan.steps = 100;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if (rank != 1 || index % 40 >= 11) return;  // the median of windows 0, 2 and 4, but not that of all steps
    step.forward *= 1.6;
    step.backward *= 1.6;
    step.optimizer *= 1.6;
  };
  ReportOptions options;
  options.include_warm_up = true;
  const Report report = analyze(*make(plan), options);
  const Straggler row = only(*report.stragglers, RankId{1}, StragglerKind::compute, Persistence::persistent);
  EXPECT_NEAR(row.slowdown, 1.6, 0.05);
  EXPECT_NE(row.evidence.find("in 3 of 5 comparison windows of 20 steps"), std::string::npos) << row.evidence;
}

TEST(Stragglers, InALongRunSlownessThatWentAwayHasALastStep) {
  SyntheticRun plan;
  plan.steps = 500;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    step.forward *= rank == 1 && index >= 100 && index < 300 ? 2 : 1;
  };
  const Straggler row = only(stragglers_of(plan), RankId{1}, StragglerKind::compute, Persistence::persistent);
  EXPECT_EQ(row.since_step, 100);
  EXPECT_EQ(row.until_step, 299);
}

class NoisyCleanRuns : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, NoisyCleanRuns, ::testing::Values(2U, 3U, 4U, 8U), ::testing::PrintToStringParamName());

TEST_P(NoisyCleanRuns, HaveNoneThatBecameSlowLate) {
  for (const std::int64_t steps : {25, 50, 100}) {
    for (const double noise : {0.02, 0.1, 0.3}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const StragglersSection section =
            stragglers_of({.ranks = GetParam(), .steps = steps, .noise = noise, .seed = 100 + seed});
        EXPECT_TRUE(section.rows.empty())
            << steps << " steps, noise " << noise << ", seed " << seed << ": " << section.rows[0].evidence;
      }
    }
  }
}

TEST(Stragglers, TheFiguresOfTheEvidenceAgree) {
  // Two windows of one kind and three of another: medians of quotients and of differences would tell two stories.
  SyntheticRun plan;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    const double all = index < 8 ? 0.1 : 1;
    step.forward *= all * (rank == 2 ? 3 : 1);
    step.backward *= all;
    step.optimizer *= all;
  };
  const Straggler row = only(stragglers_of(plan), RankId{2}, StragglerKind::compute, Persistence::persistent);
  std::smatch figures;
  ASSERT_TRUE(std::regex_search(row.evidence, figures,
                                std::regex{R"(own time ([\d.]+) ms, its peers ([\d.]+) ms \(median\), ([\d.]+) x)"}))
      << row.evidence;
  const auto figure = [&figures](std::size_t place) { return std::stod(figures[place].str()); };
  EXPECT_NEAR(figure(1) / figure(2), figure(3), 0.02) << row.evidence;  // three digits each
}

TEST(Stragglers, TwoOfThemInAClassSaveTogetherWhatNeitherSavesAlone) {
  SyntheticRun plan;  // a slow host
  plan.ranks = 8;
  plan.steps = 100;
  plan.noise = 0.002;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    const double factor = (rank == 2 || rank == 3) && index >= 60 ? 2 : 1;
    step.forward *= factor;
    step.backward *= factor;
  };
  const Report report = analyze(*make(plan), {});
  ASSERT_EQ(report.stragglers->rows.size(), 2U);
  for (const Straggler& row : report.stragglers->rows) {
    EXPECT_EQ(row.severity, FindingSeverity::critical);
    EXPECT_LT(row.gain_ns_per_step, 3'000'000);
    EXPECT_LE(row.gain_ns_while_slow, row.gain_ns_per_step * 100 / 40 + 5) << "at most all of it in 40 of 100 steps";
    EXPECT_LT(row.gain_ns_while_slow, 3'000'000);
    ASSERT_TRUE(row.together);
    EXPECT_NEAR(static_cast<double>(row.together->ns_per_step), 36e6, 2e6);
  }
  const std::string text = verdict_text(report);
  EXPECT_NE(text.find("if ranks 2, 3 were as fast as their peers"), std::string::npos) << text;
}

TEST(Stragglers, FourStepsAreTooFew) {
  SyntheticRun plan;
  plan.steps = 4;
  EXPECT_NE(stragglers_of(plan).cannot_tell.find("only 4 counted steps"), std::string::npos);
}

TEST(Stragglers, OfTooFewStepsTheWarmUpIsNamed) {
  SyntheticRun plan;
  plan.steps = 5;
  plan.fault = [](StepPlan& step, std::uint32_t, std::int64_t index) {
    if (index > 0) return;
    step.forward *= 5;
    step.backward *= 5;
  };
  EXPECT_EQ(
      stragglers_of(plan).cannot_tell,
      "only 4 counted steps (5 are needed, 25 for a firm verdict), since 1 of 5 complete steps is warm-up; record "
      "more steps, or use --include-warmup");
}

TEST(Stragglers, InThreeStepsTheRankForWhichAllOthersWaitIsNamed) {
  SyntheticRun plan = slow_rank(1.5);
  plan.steps = 3;
  const StragglersSection section = stragglers_of(plan);
  const Straggler row = only(section, RankId{2}, StragglerKind::compute, Persistence::persistent);
  EXPECT_EQ(row.certainty, Certainty::few_steps);
  EXPECT_EQ(row.severity, FindingSeverity::major);
  ASSERT_TRUE(row.evidence_units);
  EXPECT_GE(row.evidence_units->last, 3);
  EXPECT_NE(section.cannot_tell.find("only 3 counted steps"), std::string::npos) << "others may be hidden";
}

TEST(Stragglers, OfTwoOrThreeRanksInThreeStepsTheOneForWhichTheOthersWaitIsTheSlower) {
  for (const std::uint32_t ranks : {2U, 3U}) {
    SyntheticRun plan;
    plan.ranks = ranks;
    plan.steps = 3;
    plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data += rank == 1 ? 60 : 0; };
    const Straggler row = only(stragglers_of(plan), RankId{1}, StragglerKind::data, Persistence::persistent);
    EXPECT_EQ(row.certainty, ranks == 2 ? Certainty::of_two : Certainty::of_three);
    EXPECT_NEAR(row.slowdown, 1.6, 0.1) << row.evidence;
  }
}

TEST(Stragglers, OfEverySecondStepIsNamedByWhatTheOthersWait) {
  for (const std::uint32_t ranks : {2U, 4U}) {  // as a loader with two workers that are both too slow
    SyntheticRun plan;
    plan.ranks = ranks;
    plan.steps = 40;
    plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
      step.data += rank == 1 && index % 2 == 0 ? 80 : 0;
    };
    only(stragglers_of(plan), RankId{1}, StragglerKind::data, Persistence::persistent);
  }
}

TEST(Stragglers, PausesOfOneOfTwoRanksAreStallsOfTheSlower) {
  SyntheticRun plan;
  plan.ranks = 2;
  plan.steps = 40;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    step.stall = rank == 1 && index % 10 == 5 ? 200 : 0;
  };
  const Straggler row = only(stragglers_of(plan), RankId{1}, StragglerKind::host, Persistence::transient);
  EXPECT_EQ(row.certainty, Certainty::of_two);
}

TEST(Stragglers, CleanRunsOfFewStepsHaveNone) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SyntheticRun plan;
      plan.ranks = ranks;
      plan.steps = 1 + static_cast<std::int64_t>(seed % 5);
      plan.noise = 0.10;
      plan.seed = seed;
      const StragglersSection section = stragglers_of(plan);
      EXPECT_TRUE(section.rows.empty()) << ranks << " ranks, seed " << seed << ": " << section.rows[0].evidence;
    }
  }
}

/// Batches of another size on each rank in each step.
SyntheticRun with_batches_between(double least, double most, std::uint64_t seed) {
  SyntheticRun plan;
  plan.seed = seed;
  const auto random = std::make_shared<std::mt19937_64>(1000 + seed);
  plan.fault = [=](StepPlan& step, std::uint32_t, std::int64_t) {
    const double factor = std::uniform_real_distribution<double>(least, most)(*random);
    step.forward *= factor;
    step.backward *= factor;
  };
  return plan;
}

TEST(Stragglers, FewStepsWithBatchesOfUnequalSizeHaveNone) {
  for (const double spread : {0.3, 0.4}) {
    for (const std::uint32_t ranks : {2U, 3U, 4U}) {
      std::int64_t named = 0;
      for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SyntheticRun plan = with_batches_between(1 - spread, 1 + spread, seed);
        plan.ranks = ranks;
        plan.steps = 2 + static_cast<std::int64_t>(seed % 3);
        named += stragglers_of(plan).rows.empty() ? 0 : 1;
      }
      EXPECT_LE(named, 1) << ranks << " ranks, +-" << spread;
    }
  }
}

TEST(Stragglers, InThreeStepsASteadyDelayIsNamed) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
    std::int64_t named = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      SyntheticRun plan;
      plan.ranks = ranks;
      plan.steps = 3;
      plan.seed = seed;
      plan.noise = 0.01;
      plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) { step.stall = rank == 1 ? 40 : 0; };
      const StragglersSection section = stragglers_of(plan);
      named += section.rows.size() == 1 && section.rows[0].rank == RankId{1} ? 1 : 0;
    }
    EXPECT_GE(named, 49) << ranks << " ranks";
  }
}

TEST(Stragglers, PeriodicPausesAreStallsAndNotSlownessInEachStep) {
  for (const std::int64_t period : {3, 4}) {
    SyntheticRun plan;
    plan.steps = 40;
    plan.fault = [period](StepPlan& step, std::uint32_t rank, std::int64_t index) {
      step.stall = rank == 3 && index % period == 1 ? 200 : 0;
    };
    const Report report = analyze(*make(plan), {});
    const Straggler row = only(*report.stragglers, RankId{3}, StragglerKind::host, Persistence::transient);
    EXPECT_NE(row.evidence.find(format("every {} steps", period)), std::string::npos) << row.evidence;
    const std::string text = verdict_text(report);
    EXPECT_EQ(text.find("in each step"), std::string::npos) << text;
  }
}

TEST(Stragglers, OfUnderTwentyStepsAreProvenByOperations) {
  SyntheticRun plan = slow_rank(1.5);
  plan.steps = 3;
  const Straggler row = only(stragglers_of(plan), RankId{2}, StragglerKind::compute, Persistence::persistent);
  EXPECT_NE(row.evidence.find(" of 6 operations"), std::string::npos) << row.evidence;
}

TEST(Stragglers, OneRankHasNobodyToCompareWith) {
  SyntheticRun plan;
  plan.ranks = 1;
  EXPECT_FALSE(analyze(*make(plan), {}).stragglers);
}

}  // namespace
}  // namespace rankscope::analyzer
