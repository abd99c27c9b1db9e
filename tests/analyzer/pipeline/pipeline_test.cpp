#include "pipeline/parts.h"

#include <gtest/gtest.h>

#include "pipeline/steps.h"
#include "rankscope/core/model/text.h"
#include "support/synthetic_recording.h"

namespace rankscope::analyzer {
namespace {

using rankscope::testing::recorded;
using synthetic::Plan;

constexpr double per_mille = 0.001;

/// Four ranks, eight micro-batches, all parts of equal length, nothing lost between them.
Plan four_by_eight(PipelineSchedule schedule, std::int32_t chunks = 1) {
  Plan plan;
  plan.ranks = plan.pp = 4;
  plan.micro_batches = 8;
  plan.schedule = schedule;
  plan.chunks = chunks;
  plan.steps = 3;
  plan.noise = 0;
  plan.layers = 1;
  return plan;
}

Section<PipelineSection> pipeline_of(const Run& run) {
  const ClockTrust clocks{run};
  return find_pipeline(run, clocks, find_steps(run, clocks, {}).section);
}

PipelineSection section_of(const Plan& plan) {
  auto section = pipeline_of(*recorded(plan));
  EXPECT_TRUE(section) << section.error().why;
  return section.value_or(PipelineSection{});
}

std::int64_t sum_of(const PipelineParts& parts) {
  return parts.work_ns + parts.bubble_ns + parts.imbalance_ns + parts.excess_ns;
}

struct Known {
  PipelineSchedule schedule;
  std::int32_t chunks;
  double length_ms;  ///< counted by hand and by simulators, in units of 10 ms (or 5 ms, for half stages)
  double bubble;
};

TEST(Pipeline, MeasuresWhatThePapersSayOfEachSchedule) {
  using enum PipelineSchedule;
  const Known all[] = {{gpipe, 1, 330, 9.0 / 33}, {one_f_one_b, 1, 330, 9.0 / 33},    {interleaved, 2, 285, 9.0 / 57},
                       {zb_h1, 1, 270, 3.0 / 27}, {zb_interleaved, 2, 255, 3.0 / 51}, {zb_v, 2, 255, 3.0 / 51}};
  for (const Known& known : all) {
    const PipelineSection section = section_of(four_by_eight(known.schedule, known.chunks));
    EXPECT_EQ(section.schedule, known.schedule) << name_of(known.schedule) << ": " << section.why_unknown;
    EXPECT_EQ(section.shape, (PipelineShape{4, 8, known.chunks}));
    ASSERT_TRUE(section.parts && section.bubble_theory.value) << section.why_no_parts;
    EXPECT_NEAR(static_cast<double>(section.parts->length_ns), known.length_ms * 1e6,
                known.length_ms * 1e6 * per_mille);
    EXPECT_NEAR(*section.bubble_measured.value, known.bubble, per_mille) << name_of(known.schedule);
    EXPECT_NEAR(*section.bubble_theory.value, known.bubble, per_mille) << name_of(known.schedule);
    EXPECT_EQ(sum_of(*section.parts), section.parts->length_ns);
    EXPECT_FALSE(section.owner);
  }
}

TEST(Pipeline, TheoryIsThatOfTheClosedForms) {
  for (std::int32_t p = 1; p <= 5; ++p) {
    for (std::int32_t m = 1; m <= 12; ++m) {
      const double wall = (m + p - 1) * 50.0;  // F = 10, B = 40
      EXPECT_NEAR(ideal_length(PipelineSchedule::gpipe, {p, m, 1}, {10, 40, 0, 0}), wall, 1e-9);
      EXPECT_NEAR(ideal_length(PipelineSchedule::one_f_one_b, {p, m, 1}, {10, 40, 0, 0}), wall, 1e-9);
      if (m >= p) {
        EXPECT_NEAR(ideal_length(PipelineSchedule::zb_h1, {p, m, 1}, {10, 0, 12, 8}), m * 30 + (p - 1) * 14.0, 1e-9);
      }
      if (m >= p && fits(PipelineSchedule::interleaved, {p, m, 3})) {
        EXPECT_NEAR(ideal_length(PipelineSchedule::interleaved, {p, m, 3}, {10, 40, 0, 0}), m * 150 + (p - 1) * 50.0,
                    1e-9);
      }
      if (m >= 2 * p - 1) {
        EXPECT_NEAR(ideal_length(PipelineSchedule::zb_v, {p, m, 2}, {10, 0, 10, 10}), m * 60 + (p - 1) * 10.0, 1e-9);
      }
    }
  }
}

TEST(Pipeline, PartsAddUpWithNoiseTransfersAndUnevenStages) {
  for (const PipelineSchedule schedule : all_pipeline_schedules) {
    const bool chunked = !fits(schedule, {4, 8, 1});
    Plan plan = four_by_eight(schedule, chunked ? 2 : 1);
    plan.ranks = 16;
    plan.tp = 2;
    plan.noise = 0.05;
    plan.send_ms = 0.7;
    plan.gap_ns = 30'001;
    plan.pick_up_ns = 20'003;
    plan.stage_work = {1, 1, 1.3, 0.9};
    const PipelineSection section = section_of(plan);
    EXPECT_EQ(section.schedule, schedule);
    EXPECT_EQ(section.pipelines, 4);
    ASSERT_TRUE(section.parts);
    EXPECT_EQ(sum_of(*section.parts), section.parts->length_ns);
    EXPECT_GT(*section.above_theory(), 0);
  }
}

TEST(Pipeline, UnevenStagesAreImbalanceAndTheSlowOneIsNamed) {
  Plan plan = four_by_eight(PipelineSchedule::one_f_one_b);
  plan.stage_work = {1, 1, 1.5, 1};
  const PipelineSection section = section_of(plan);
  // Mean work 8 x 33.75, bubble 3 x 33.75; stage 2 alone: 2 x 30 in front, 8 x 45, and no more behind it.
  ASSERT_TRUE(section.parts);
  EXPECT_NEAR(static_cast<double>(section.parts->imbalance_ns), (60 + 360 - 11 * 33.75) * 1e6, 1e5);
  // The lower bound is not reached: its first backward waits for the stage behind it.
  EXPECT_NEAR(static_cast<double>(section.parts->excess_ns), 15e6, 1e5);
  ASSERT_TRUE(section.owner);
  EXPECT_EQ(section.owner->rank, RankId{2});
  EXPECT_GT(section.owner->above.longer_work_ns, section.owner->above.transfer_ns);
}

TEST(Pipeline, TransfersAreExcessAndNotLongerWork) {
  Plan plan = four_by_eight(PipelineSchedule::gpipe);
  plan.send_ms = 4;
  const PipelineSection section = section_of(plan);
  // Filling and draining each cross three boundaries.
  ASSERT_TRUE(section.parts);
  EXPECT_NEAR(static_cast<double>(section.parts->excess_ns), 24e6, 1e5);
  AboveTheory sum;
  for (const PipelinePlace& place : section.places) {
    sum.longer_work_ns += place.above.longer_work_ns;
    sum.transfer_ns += place.above.transfer_ns;
  }
  EXPECT_NEAR(static_cast<double>(sum.transfer_ns), 24e6, 1e5);
  EXPECT_EQ(sum.longer_work_ns, 0);
}

TEST(Pipeline, TheSlowRankIsNamedAmongManyPipelines) {
  Plan plan = four_by_eight(PipelineSchedule::one_f_one_b);
  plan.ranks = 32;
  plan.noise = 0.01;
  plan.faults = {synthetic::fault_from("slow:rank=13,factor=1.4")};
  const PipelineSection section = section_of(plan);
  EXPECT_EQ(section.pipelines, 8);
  ASSERT_TRUE(section.owner);
  EXPECT_EQ(section.owner->rank, RankId{13});
  EXPECT_EQ(section.owner->place, 1);
  ASSERT_TRUE(section.drawn);
  EXPECT_EQ(section.drawn->ranks[1], RankId{13});
  EXPECT_EQ(section.drawn->actions.size(), 4U * 16U);
}

TEST(Pipeline, OfATensorParallelGroupTheRankIsNamedThatTheOthersWaitFor) {
  Plan plan = four_by_eight(PipelineSchedule::one_f_one_b);
  plan.ranks = 16;
  plan.tp = 4;
  plan.layers = 2;
  plan.noise = 0.01;
  plan.faults = {synthetic::fault_from("slow:rank=9,factor=1.4")};
  const PipelineSection section = section_of(plan);
  ASSERT_TRUE(section.owner);
  EXPECT_EQ(section.owner->rank, RankId{9});
}

TEST(Pipeline, WithoutACommonClockOnlyOwnSpansCount) {
  Plan plan = four_by_eight(PipelineSchedule::one_f_one_b);
  plan.hosts = 4;
  const PipelineSection section = section_of(plan);
  EXPECT_EQ(section.schedule, PipelineSchedule::one_f_one_b);
  EXPECT_FALSE(section.bubble_theory.value);
  EXPECT_NE(section.why_no_parts.find("clocks"), std::string::npos);
  EXPECT_GT(*section.bubble_measured.value, 0);
  EXPECT_TRUE(section.clocks_refused);
  EXPECT_FALSE(section.drawn);
}

std::shared_ptr<const Run> run_of_text(const std::string& text) {
  const auto run = run_from_text(text);
  if (!run) throw std::runtime_error(run.error().message);
  return *run;
}

constexpr const char* two_sends =
    "@run clock=same_host clock_error=1000\n"
    "@group pp 0,1\n"
    "0 comm 10 12 send group=pp peer=1\n"
    "1 comm 10 12 recv group=pp peer=0\n";

TEST(Pipeline, AnOrderThatNoScheduleHasIsUnknownAndSaysWhere) {
  const auto section = pipeline_of(*run_of_text(std::string{two_sends} + "0 forward 0 10 f stage=0 mb=1\n"
                                                                         "0 forward 10 20 f stage=0 mb=0\n"
                                                                         "0 backward 60 80 b stage=0 mb=0\n"
                                                                         "0 backward 80 100 b stage=0 mb=1\n"
                                                                         "1 forward 12 22 f stage=1 mb=0\n"
                                                                         "1 forward 22 32 f stage=1 mb=1\n"
                                                                         "1 backward 32 52 b stage=1 mb=0\n"
                                                                         "1 backward 52 72 b stage=1 mb=1\n"));
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_FALSE(section->schedule);
  EXPECT_NE(section->why_unknown.find("F1 instead of F0"), std::string::npos) << section->why_unknown;
  EXPECT_NEAR(*section->bubble_measured.value, 1 - 120.0 / 200, 1e-12);
  EXPECT_FALSE(section->bubble_theory.value);
  EXPECT_TRUE(section->drawn);
}

TEST(Pipeline, RangesNamedAsTorchNamesThemAreUnderstood) {
  const auto section = pipeline_of(*run_of_text(std::string{two_sends} + "0 user 0 10 PP:0F0\n0 user 60 80 PP:0B0\n"
                                                                         "1 user 12 22 PP:1F0\n1 user 32 52 PP:1B0\n"));
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->schedule, PipelineSchedule::gpipe);
  EXPECT_EQ(section->places[1].forward_ns, 10);
}

TEST(Pipeline, SaysWhyThereIsNone) {
  const auto why = [](const std::string& text) {
    const auto section = pipeline_of(*run_of_text(text));
    return section ? std::string{} : section.error().why;
  };
  EXPECT_NE(why("0 forward 0 10 f\n1 forward 0 10 f\n").find("no pipeline"), std::string::npos);
  EXPECT_NE(why(two_sends).find("not marked for each micro-batch"), std::string::npos);
  EXPECT_NE(why("0 forward 0 10 f stage=0 mb=0\n1 forward 0 10 f stage=1 mb=0\n").find("no rank sends"),
            std::string::npos);
  EXPECT_NE(why("0 user 0 10 PP:0F0 lane=main\n0 compute 2 20 gemm\n").find("host only"), std::string::npos);
}

TEST(Pipeline, TimesThatCannotBeDoNotOverflow) {
  const std::string far = std::to_string(std::int64_t{1} << 61);
  const auto section = pipeline_of(*run_of_text(std::string{two_sends} + "0 forward -" + far + " " + far +
                                                " f stage=0 mb=0\n" + "1 forward 0 " + far + " f stage=1 mb=0\n"));
  EXPECT_FALSE(section);
}

}  // namespace
}  // namespace rankscope::analyzer
