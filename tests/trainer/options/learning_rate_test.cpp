#include "rankscope/trainer/options/learning_rate.h"

#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

TEST(LearningRate, StaysUnlessTold) {
  for (const std::int64_t step : {0, 5, 9}) EXPECT_DOUBLE_EQ(rate_factor({}, step, 10), 1);
}

TEST(LearningRate, FallsToNothingBehindTheLastStep) {
  EXPECT_DOUBLE_EQ(rate_factor({RateSchedule::linear, 0}, 0, 10), 1);
  EXPECT_DOUBLE_EQ(rate_factor({RateSchedule::linear, 0}, 5, 10), 0.5);
  EXPECT_DOUBLE_EQ(rate_factor({RateSchedule::linear, 0}, 9, 10), 0.1);
  EXPECT_DOUBLE_EQ(rate_factor({RateSchedule::cosine, 0}, 0, 10), 1);
  EXPECT_DOUBLE_EQ(rate_factor({RateSchedule::cosine, 0}, 5, 10), 0.5);
  EXPECT_GT(rate_factor({RateSchedule::cosine, 0}, 9, 10), 0);
}

TEST(LearningRate, RisesInTheFirstSteps) {
  const RatePlan plan{RateSchedule::linear, 4};
  EXPECT_DOUBLE_EQ(rate_factor(plan, 0, 10), 0.2);
  EXPECT_DOUBLE_EQ(rate_factor(plan, 3, 10), 0.8);
  EXPECT_DOUBLE_EQ(rate_factor(plan, 4, 10), 1);
  EXPECT_DOUBLE_EQ(rate_factor(plan, 7, 10), 0.5);
}

TEST(LearningRate, AWarmUpAsLongAsTheRunIsNoMistake) {
  const RatePlan plan{RateSchedule::cosine, 10};
  EXPECT_DOUBLE_EQ(rate_factor(plan, 9, 10), 10.0 / 11);
}

}  // namespace
}  // namespace rankscope::trainer
