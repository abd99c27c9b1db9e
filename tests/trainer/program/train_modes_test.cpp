// Every mode trains with no other option than its name and a number of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankscope/trainer/options/modes.h"
#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> names_of_modes() {
  std::vector<std::string> names;
  for (const trainer::ModeTraits& mode : trainer::all_modes()) names.emplace_back(mode.name);
  return names;
}

class EveryMode : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMode, TrainsByItself) {
  const std::string mode = "--parallel " + GetParam() + " --steps 2";
  std::vector<std::string> all{mode, mode + " --ranks 1"};
  if (!trainer::mode_named(GetParam()).runs_on_one_rank()) all.push_back(mode + " --ranks 2");
  for (const std::string& options : all) {
    const ProgramResult result = train(options);
    EXPECT_EQ(result.status, 0) << options << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr("done: 2 steps")) << options;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, ::testing::ValuesIn(names_of_modes()));

}  // namespace
}  // namespace rankscope::testing
