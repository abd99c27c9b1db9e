#include "rankscope/analyzer/pipeline/actions.h"

#include <gtest/gtest.h>

#include "rankscope/analyzer/report.h"
#include "support/synthetic_recording.h"

namespace rankscope::analyzer {
namespace {

TEST(PipelineActions, HaveEachStepOfEachPipelineAsTheReportMeasuresIt) {
  const auto run = rankscope::testing::recorded({.ranks = 8, .steps = 4, .pp = 4, .micro_batches = 8});
  const Report report = analyze(*run, {});
  ASSERT_TRUE(report.pipeline) << report.pipeline.error().why;
  const auto all = pipeline_actions(report.in_run_time ? *report.in_run_time : *run, report.steps);
  ASSERT_TRUE(all) << all.error().why;
  ASSERT_EQ(all->size(), 2U);
  double idle = 0;
  double whole = 0;
  for (const ActionsOfPipeline& pipeline : *all) {
    ASSERT_EQ(pipeline.ranks.size(), 4U);
    EXPECT_EQ(static_cast<std::int64_t>(pipeline.steps.size()), report.pipeline->steps);
    for (const StepOfPipeline& step : pipeline.steps) {
      EXPECT_EQ(step.actions.size(), 4U * 8U * 2U);
      EXPECT_EQ(step.actions.front().stage, 0);
      EXPECT_EQ(step.actions.back().stage, 3);
      idle += step.bubble() * static_cast<double>(step.time.length().count());
      whole += static_cast<double>(step.time.length().count());
    }
  }
  EXPECT_NEAR(idle / whole, *report.pipeline->bubble_measured.value, 1e-6);
}

TEST(PipelineActions, SayWhyThereAreNone) {
  const auto run = rankscope::testing::recorded({.ranks = 2, .steps = 2});
  const auto all = pipeline_actions(*run, analyze(*run, {}).steps);
  ASSERT_FALSE(all);
  EXPECT_FALSE(all.error().why.empty());
}

}  // namespace
}  // namespace rankscope::analyzer
