// Which names are those of a step.
#include "rankscope/core/step_names.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(StepNames, AWordForAStepMayHaveANumber) {
  EXPECT_EQ(number_of_step_name("ProfilerStep#12"), "12");
  EXPECT_EQ(number_of_step_name("Iteration_3"), "3");
  EXPECT_EQ(number_of_step_name("train_step: 7"), "7");
  EXPECT_EQ(number_of_step_name("STEP"), "");
}

TEST(StepNames, OtherNamesAreNone) {
  for (const char* const name : {"stepper", "step_forward", "step2x", "my step 3", ""})
    EXPECT_EQ(number_of_step_name(name), std::nullopt) << name;
}

}  // namespace
}  // namespace rankscope
