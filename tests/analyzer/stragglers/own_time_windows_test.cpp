#include "stragglers/own_time_windows.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

TEST(StepBlocks, FollowTheNumberOfSteps) {
  EXPECT_TRUE(step_blocks(4).empty());
  EXPECT_EQ(step_blocks(20).size(), 5U);
  EXPECT_EQ(step_blocks(20)[4].first, 16U);
  EXPECT_EQ(step_blocks(249)[0].count, 49U);
  EXPECT_EQ(step_blocks(249).size(), 5U);
  EXPECT_EQ(step_blocks(310).size(), 6U);
  EXPECT_EQ(step_blocks(310)[5].count, 50U);
}

TEST(StepBlocks, HaveAllSteps) {
  for (std::size_t steps = least_steps; steps < 60; ++steps) {
    std::size_t next = 0;
    for (const StepBlock& block : step_blocks(steps)) {
      EXPECT_EQ(block.first, next);
      EXPECT_LE(block.count - steps / consecutive_windows, 1U);
      next = block.first + block.count;
    }
    EXPECT_EQ(next, steps);
  }
  EXPECT_EQ(text_of(step_blocks(8)), "5 comparison windows of 1 or 2 steps");
  EXPECT_EQ(text_of(step_blocks(20)), "5 comparison windows of 4 steps");
}

}  // namespace
}  // namespace rankscope::analyzer
