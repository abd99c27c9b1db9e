// Several ranks and no recorded collectives: nothing is claimed that waiting could be, and what can be said is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/what_if/what_if.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_of;
using ::testing::StartsWith;

/// What one rank does in a step, in ms. The rest of the step is its backward, where waiting for the others hides.
struct RankPlan {
  double data = 0;
  double stall = 0;  ///< outside of all spans
  double step = 100;
  int steps = 20;
  double cpu_percent = 50;
  double start = 0;  ///< of the first step
};
using RankPlans = std::function<RankPlan(std::uint32_t rank)>;

std::string text_without_collectives(std::uint32_t ranks, const RankPlans& plans) {
  std::string text = "@run clock=same_host clock_error=1000\n";
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const RankPlan plan = plans(rank);
    const auto at = [&](int step, double ms) {
      return static_cast<std::int64_t>((plan.start + step * plan.step + ms) * 1e6);
    };
    text += format("@rank {} host=n0 ended=exited:0\n", rank);
    for (int step = 0; step < plan.steps; ++step) {
      text += format("{0} step {1} {2} step index={3}\n", rank, at(step, 0), at(step, plan.step), step);
      if (plan.data > 0) text += format("{0} data {1} {2} next_batch\n", rank, at(step, 0), at(step, plan.data));
      text += format("{0} forward {1} {2} forward\n", rank, at(step, plan.data), at(step, plan.data + 10));
      text += format("{0} backward {1} {2} backward\n{0} counter {1} {3} cpu_percent\n", rank,
                     at(step, plan.data + 10 + plan.stall), at(step, plan.step), plan.cpu_percent);
    }
  }
  return text;
}

struct Analyzed {
  std::shared_ptr<const Run> run;
  Report report;
  std::string text;
  nlohmann::json json;
};

/// Lines that were wrapped are one line again.
std::string unwrapped(const std::string& text) {
  std::string flat;
  for (const char c : text) {
    const char plain = c == '\n' ? ' ' : c;
    if (plain != ' ' || flat.empty() || flat.back() != ' ') flat += plain;
  }
  return flat;
}

Analyzed analyzed(const std::string& input) {
  Analyzed result;
  result.run = run_of(input);
  result.report = analyze(*result.run, {});
  result.text = unwrapped(render_text(result.report, *result.run, {}, Colour::no));
  result.json = nlohmann::json::parse(render_json(result.report, *result.run, {}));
  return result;
}

Analyzed analyzed(std::uint32_t ranks, const RankPlans& plans) {
  return analyzed(text_without_collectives(ranks, plans));
}

RankPlan even(std::uint32_t) { return {}; }

/// The ids and ranks of the findings: "unequal.data_wait 1".
std::vector<std::string> named(const Report& report) {
  std::vector<std::string> all;
  for (const Finding& finding : *report.findings)
    all.push_back(format("{}{}", finding.id, finding.rank ? format(" {}", finding.rank->value) : ""));
  return all;
}

TEST(WithoutCollectives, ThereIsNoAllClear) {
  const Analyzed run = analyzed(4, even);
  EXPECT_TRUE(run.report.findings->empty());
  EXPECT_THAT(run.text, StartsWith("VERDICT Ranks could not be compared, since no collectives were recorded. Record "
                                   "without"));
  EXPECT_THAT(run.text, HasSubstr("annotation API"));
  for (const char* claim : {"would be found", "would have been found", "No problem found", " None. "})
    EXPECT_THAT(run.text, Not(HasSubstr(claim)));
  EXPECT_EQ(run.json["stragglers"]["unavailable"],
            "no collectives were recorded: waiting for other ranks cannot be separated from work");
}

TEST(WithoutCollectives, AdviceIsInTheWordsOfTheTool) {
  for (const char* source : {"kineto", "nsys"}) {
    std::string text = text_without_collectives(4, even);
    text.insert(text.find(" clock="), format(" source={}", source));
    EXPECT_THAT(analyzed(text).text, HasSubstr("were recorded. Profile all ranks with")) << source;
  }
}

TEST(WithoutCollectives, ThereAreNoEfficiencyNoCriticalPathAndNoWhatIf) {
  const Analyzed run = analyzed(4, even);
  for (const char* section : {"efficiency", "critical_path", "what_if", "straggler_basis"})
    EXPECT_THAT(run.json[section]["unavailable"].get<std::string>(), StartsWith("no collectives were recorded"))
        << section;
  for (const char* heading : {" EFFICIENCY ", " CRITICAL PATH ", " WHAT IF "})
    EXPECT_THAT(run.text, Not(HasSubstr(heading)));
  const std::vector<std::string> fixes{"rank:2"};
  const auto answer = what_if(*run.run, {}, fixes);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::not_computable);
  EXPECT_THAT(answer.error().message, HasSubstr("no collectives were recorded"));
}

TEST(WithoutCollectives, WhatMayBeWaitingIsNotCalledComputeAndCommunicationIsUnknown) {
  const Analyzed run = analyzed(4, even);
  EXPECT_THAT(run.text, HasSubstr("compute or wait"));
  EXPECT_THAT(run.text, HasSubstr("compute and idle time may include waiting for other ranks."));
  const nlohmann::json& rank = run.json["ranks"][0];
  EXPECT_EQ(rank["compute_ns"], 2'000'000'000) << "measured, as an upper bound";
  for (const char* bound : {"compute_ns", "idle_ns", "utilization.compute"})
    EXPECT_THAT(rank["why"][bound].get<std::string>(), StartsWith("an upper bound; no collectives")) << bound;
  for (const char* unknown :
       {"exposed_comm_ns", "overlapped_comm_ns", "comm_ns", "wait_ns", "transfer_ns", "unsplit_ns", "overlap_ratio"}) {
    EXPECT_TRUE(rank[unknown].is_null()) << unknown;
    EXPECT_THAT(rank["why"][unknown].get<std::string>(), StartsWith("no collectives were recorded")) << unknown;
  }
}

TEST(WithoutCollectives, ARankThatWaitsForItsDataIsNamed) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
    const Analyzed run = analyzed(ranks, [](std::uint32_t rank) { return RankPlan{.data = rank == 1 ? 55.0 : 0.5}; });
    EXPECT_EQ(named(run.report), std::vector<std::string>{"unequal.data_wait 1"}) << ranks;
    const Finding& finding = run.report.findings->front();
    EXPECT_EQ(finding.severity, FindingSeverity::major);
    EXPECT_EQ(finding.title, "rank 1 waits longer than its peers for its data: 55.0 ms per step compared with 500 µs");
    EXPECT_EQ(finding.certainty == Certainty::fact, ranks > 3) << ranks;
    EXPECT_THAT(run.text, StartsWith("VERDICT Rank 1 waits longer than its peers for its data"));
    EXPECT_THAT(run.text, HasSubstr("Ranks could not be compared"));
    const nlohmann::json& json = run.json["findings"][0];
    EXPECT_EQ(json["rank"], 1);
    EXPECT_TRUE(json["gain_ns_per_step"].is_null());
    EXPECT_THAT(json["why"]["gain_ns_per_step"].get<std::string>(), HasSubstr("no collectives were recorded"));
  }
}

TEST(WithoutCollectives, OfTwoRanksTheOneThatAloneWaitsForDataIsAFact) {
  const Analyzed run = analyzed(2, [](std::uint32_t rank) { return RankPlan{.data = rank == 1 ? 55.0 : 0}; });
  EXPECT_EQ(run.json["findings"][0]["certainty"], "fact");
  EXPECT_EQ(run.json["findings"][0]["id"], "unequal.data_wait");
}

TEST(WithoutCollectives, ARankWhoseHostStandsStillIsNamed) {
  const auto stalls = [](std::uint32_t rank) { return RankPlan{.stall = rank == 2 ? 40.0 : 0}; };
  const Analyzed four = analyzed(4, stalls);
  EXPECT_EQ(named(four.report), std::vector<std::string>{"unequal.host_time 2"});
  EXPECT_EQ(four.report.findings->front().severity, FindingSeverity::major);
  const Analyzed three = analyzed(3, stalls);
  const Finding& finding = three.report.findings->front();
  EXPECT_EQ(finding.id, "unequal.host_time");
  EXPECT_EQ(finding.severity, FindingSeverity::minor) << "of few ranks it may be the one that waits there";
  EXPECT_EQ(finding.certainty, Certainty::of_three);
  EXPECT_THAT(finding.evidence,
              HasSubstr("spends this time waiting for a rank that is slow in another part of the step"));
}

TEST(WithoutCollectives, HealthyRanksThatWaitOutsideOfTheirWorkAreNotNamed) {
  const Analyzed run = analyzed(4, [](std::uint32_t rank) { return RankPlan{.stall = rank == 2 ? 0 : 40.0}; });
  for (const std::string& finding : named(run.report)) EXPECT_THAT(finding, Not(StartsWith("unequal.")));
}

TEST(WithoutCollectives, ARankWithLongerStepsIsNamed) {
  const Analyzed run = analyzed(4, [](std::uint32_t rank) { return RankPlan{.step = rank == 3 ? 150.0 : 100}; });
  EXPECT_EQ(named(run.report), std::vector<std::string>{"unequal.step_time 3"});
}

TEST(WithoutCollectives, ARankWithAnotherCpuUseIsNamed) {
  const auto busy = [](std::uint32_t rank) { return RankPlan{.cpu_percent = rank == 2 ? 98.0 : 45}; };
  const Analyzed run = analyzed(4, busy);
  EXPECT_EQ(named(run.report), std::vector<std::string>{"unequal.cpu_use 2"});
  EXPECT_EQ(run.report.findings->front().severity, FindingSeverity::minor);
  EXPECT_THAT(run.report.findings->front().title, HasSubstr("98 % of a core compared with 45 %"));
  EXPECT_EQ(named(analyzed(3, busy).report), std::vector<std::string>{"unequal.cpu_use 2"});
  const auto starved = [](std::uint32_t rank) { return RankPlan{.cpu_percent = rank == 0 ? 20.0 : 95}; };
  EXPECT_EQ(named(analyzed(4, starved).report), std::vector<std::string>{"unequal.cpu_use 0"});
  EXPECT_EQ(named(analyzed(2, starved).report), std::vector<std::string>{"unequal.cpu_use 1"});
}

TEST(WithoutCollectives, TheCpuUseOfARankIsThatInSteps) {
  std::string text = text_without_collectives(4, [](std::uint32_t) { return RankPlan{.start = 5000}; });
  for (int sample = 0; sample < 50; ++sample)  // rank 2 imports and compiles for longer than it trains
    text += format("2 counter {}00000000 100 cpu_percent\n", sample);
  const Analyzed run = analyzed(text);
  EXPECT_THAT(named(run.report), ::testing::IsEmpty());
  EXPECT_EQ(run.report.rank_rows->at(2).cpu_percent, 50.0);
  EXPECT_EQ(run.report.rank_facts.at(2).cpu_percent, 50.0);
}

TEST(WithoutCollectives, WithoutSamplesInStepsTheCpuUseIsNotKnown) {
  std::string text = text_without_collectives(2, [](std::uint32_t) { return RankPlan{.start = 5000}; });
  text.erase(text.find("0 counter"));
  const Analyzed run = analyzed(text + "0 counter 100 100 cpu_percent\n0 counter 200 100 cpu_percent\n");
  EXPECT_FALSE(run.report.rank_rows->at(0).cpu_percent);
  EXPECT_EQ(run.json["ranks"][0]["why"]["utilization.cpu_percent"], "no host samples in the steps");
}

TEST(WithoutCollectives, ARankWithFewerStepsIsNamed) {
  const Analyzed run = analyzed(4, [](std::uint32_t rank) { return RankPlan{.steps = rank == 1 ? 12 : 20}; });
  EXPECT_EQ(named(run.report), std::vector<std::string>{"unequal.steps 1"});
  EXPECT_EQ(run.report.findings->front().title, "rank 1 has fewer steps than its peers: 12 steps compared with 20");
}

TEST(WithoutCollectives, OnlyFindingsOfTheRanksAskedForAreShown) {
  const auto run =
      run_of(text_without_collectives(4, [](std::uint32_t rank) { return RankPlan{.data = rank == 1 ? 55.0 : 0.5}; }));
  ReportOptions options;
  options.ranks = {RankId{0}};
  EXPECT_TRUE(named(analyze(*run, options)).empty());
}

TEST(WithoutCollectives, AStepThatBecomesLongerIsBlamedOnNoRank) {
  std::string text = "@run clock=same_host clock_error=1000\n";
  for (int rank = 0; rank < 4; ++rank)
    for (int step = 0; step < 40; ++step)
      text += format("{0} step {1} {2} step index={3}\n{0} backward {1} {2} backward\n", rank,
                     step < 20 ? step * 1'000'000 : 20'000'000 + (step - 20) * 1'500'000,
                     step < 20 ? (step + 1) * 1'000'000 : 20'000'000 + (step - 19) * 1'500'000, step);
  const Analyzed run = analyzed(text);
  ASSERT_EQ(run.json["trend"]["changes"].size(), 1U);
  EXPECT_TRUE(run.json["trend"]["changes"][0]["ranks"].is_null());
  EXPECT_THAT(run.text, HasSubstr("it is not known which rank caused this"));
}

/// A wait of 10 ms in each of the first steps.
std::string waits_of(std::uint32_t rank, int steps) {
  std::string text;
  for (int step = 0; step < steps; ++step)
    text += format("{} wait {}000000 {}000000 wait\n", rank, step * 100 + 50, step * 100 + 60);
  return text;
}

TEST(WithoutCollectives, OneRankAloneAndRecordedCommunicationAreNoReason) {
  EXPECT_TRUE(analyzed(1, even).report.why_not_compared.empty());
  const Analyzed waits = analyzed(text_without_collectives(2, even) + waits_of(0, 20) + waits_of(1, 20));
  EXPECT_TRUE(waits.report.why_not_compared.empty()) << waits.report.why_not_compared;
  EXPECT_TRUE(waits.report.efficiency);
}

void expect_no_all_clear(const Analyzed& run) {
  EXPECT_FALSE(run.report.stragglers);
  for (const char* claim : {"would be found", "would have been found", "No problem found", " None. "})
    EXPECT_THAT(run.text, Not(HasSubstr(claim)));
}

TEST(WithoutCollectives, AnOperationBeforeTheStepsShowsNothingOfThem) {
  std::string text = text_without_collectives(4, [](std::uint32_t) { return RankPlan{.start = 1}; });
  text.insert(text.find('\n') + 1, "@group all 0,1,2,3\n");
  for (int rank = 0; rank < 4; ++rank) text += format("{} comm 0 500000 barrier group=all seq=0\n", rank);
  const Analyzed run = analyzed(text);
  EXPECT_EQ(run.report.why_not_compared,
            "communication of rank 0 was recorded in none of 20 steps: waiting for other ranks cannot be separated "
            "from work");
  EXPECT_THAT(run.text, StartsWith("VERDICT Ranks could not be compared, since communication of rank 0 was recorded in "
                                   "none of 20 steps."));
  EXPECT_THAT(run.text, Not(HasSubstr("gradient accumulation")));
  EXPECT_TRUE(run.json["ranks"][0]["comm_ns"].is_null());
  expect_no_all_clear(run);
}

TEST(WithoutCollectives, OperationsOfSomeRanksShowNothingOfTheOthers) {
  std::string text = text_without_collectives(4, even);
  text.insert(text.find('\n') + 1, "@group pair 0,1\n");
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 20; ++step)
      text += format("{} comm {}000000 {}000000 barrier group=pair seq={} lane=comm\n", rank, step * 100 + 90,
                     step * 100 + 95, step);
  const Analyzed run = analyzed(text);
  EXPECT_THAT(run.report.why_not_compared, StartsWith("communication of rank 2 was recorded in none of 20 steps"));
  EXPECT_EQ(run.json["ranks"][0]["comm_ns"], 100'000'000) << "of rank 0 something is known";
  EXPECT_THAT(run.json["ranks"][0]["why"]["comm_ns"].get<std::string>(), StartsWith("a lower bound; communication of"));
  EXPECT_TRUE(run.json["ranks"][2]["comm_ns"].is_null());
  expect_no_all_clear(run);
}

TEST(WithoutCollectives, HalfOfTheStepsMustHaveCommunicationAndNineTenthsForAnAllClear) {
  const auto with = [](int steps) {
    return analyzed(text_without_collectives(2, even) + waits_of(0, 20) + waits_of(1, steps));
  };
  EXPECT_EQ(with(18).report.stragglers->cannot_tell, "");
  const Analyzed most = with(17);
  EXPECT_EQ(most.report.why_not_compared, "");
  EXPECT_EQ(most.report.stragglers->cannot_tell,
            "communication of rank 1 was recorded in only 17 of 20 steps; waiting in steps without recorded "
            "communication counts as work");
  EXPECT_EQ(with(10).report.why_not_compared, "");
  const Analyzed few = with(9);
  EXPECT_THAT(few.report.why_not_compared, StartsWith("communication of rank 1 was recorded in only 9 of 20 steps:"));
  EXPECT_THAT(few.text, HasSubstr("If ranks communicate only in every n-th step (gradient accumulation), mark n steps "
                                  "as one."));
  expect_no_all_clear(few);
}

TEST(WithoutCollectives, OnAnAcceleratorOnlyWhatItsStreamsDoIsCommunication) {
  std::string text = "@run clock=same_host clock_error=1000\n@group all 0,1\n";
  for (int rank = 0; rank < 2; ++rank)
    text += format("@lane {0} main kind=thread number=1\n@lane {0} s7 kind=stream number=7 device=0\n", rank);
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 20; ++step)
      text += format(
          "{0} step {1}000000 {2}000000 step index={1} lane=main\n{0} compute {1}000000 {1}600000 gemm lane=s7\n"
          "{0} comm {1}600000 {1}900000 allreduce group=all seq={1} lane=main\n",
          rank, step, step + 1);
  const Analyzed run = analyzed(text);
  EXPECT_THAT(run.report.why_not_compared,
              StartsWith("communication of rank 0 was recorded on its devices in none of 20 steps"));
  expect_no_all_clear(run);
}

TEST(WithoutCollectives, OfOneRankEfficiencyNeedsCommunicationInItsSteps) {
  std::string text = text_without_collectives(1, [](std::uint32_t) { return RankPlan{.start = 1}; });
  text.insert(text.find('\n') + 1, "@group all 0,1\n");
  EXPECT_FALSE(analyzed(text + "0 comm 0 500000 barrier group=all seq=0\n").report.efficiency);
}

}  // namespace
}  // namespace rankscope::analyzer
