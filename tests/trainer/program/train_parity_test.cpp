// DDP must compute what one process computes on the same global batch. fp64, no BatchNorm, no dropout.
#include <gtest/gtest.h>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

constexpr double tolerance = 1e-12;
const std::string small = "--dtype f64 --steps 5 --global-batch 16 --layers 2 --hidden 12 --bucket-mb 0.02 ";

const std::vector<StepGradients>& reference() {
  static const auto steps = gradients_of(small + "--parallel single");
  return steps;
}

TEST(TrainParity, TheReferenceLearnsSomething) {
  ASSERT_EQ(reference().size(), 5u);
  EXPECT_EQ(reference().front().gradients.size(), 6u);
  EXPECT_NE(reference().front().loss, reference().back().loss);
}

class TrainParity : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainParity, HasTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(largest_difference(gradients_of(small + GetParam()), reference()), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Ddp, TrainParity,
                         ::testing::Values("--ranks 2", "--ranks 4", "--ranks 2 --ddp-impl c10d",
                                           "--ranks 4 --ddp-impl c10d", "--ranks 2 --accumulate 4",
                                           "--ranks 2 --accumulate 2 --ddp-impl c10d", "--ranks 2 --find-unused",
                                           "--ranks 2 --loader-workers 3"));

TEST(TrainParity, TheLearningRateFollowsItsScheduleInEveryMode) {
  const std::string falling =
      "--model mlp --dtype f64 --steps 5 --global-batch 16 --layers 2 --hidden 12 --lr-schedule cosine --warmup-steps "
      "2 ";
  const auto alone = gradients_of(falling + "--parallel single");
  EXPECT_GT(largest_difference(alone, reference()), 1e-6);
  for (const char* mode : {"--ranks 2", "--parallel zero2 --ranks 2", "--parallel mp", "--parallel tp --ranks 2"})
    EXPECT_LE(largest_difference(gradients_of(falling + mode), alone), tolerance) << mode;
}

class TrainRagged : public ::testing::TestWithParam<const char*> {};

// Whoever has the long samples: each sample counts the same.
TEST_P(TrainRagged, HasTheGradientsAndLossesOfOneProcess) {
  const std::string ragged =
      "--model gpt --hidden 16 --layers 2 --dtype f64 --steps 4 --global-batch 16 --seq-dist uniform:2-30 ";
  static const auto alone = gradients_of(ragged + "--parallel single");
  static const auto full = gradients_of(
      "--model gpt --hidden 16 --layers 2 --dtype f64 --steps 4 --global-batch 16 "
      "--parallel single");
  EXPECT_GT(largest_difference(alone, full), 1e-3) << "shorter samples are others";
  EXPECT_LE(largest_difference(gradients_of(ragged + GetParam()), alone), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Modes, TrainRagged,
                         ::testing::Values("--parallel single --accumulate 4", "--ranks 2", "--ranks 4",
                                           "--ranks 2 --accumulate 2", "--parallel dp", "--parallel mp",
                                           "--parallel ddp+mp --ranks 2", "--parallel zero1 --ranks 2",
                                           "--parallel zero2 --ranks 4", "--parallel zero3 --ranks 2",
                                           "--ranks 2 --ddp-impl c10d"));

class TrainRaggedBadInput : public ::testing::TestWithParam<Refused> {};

TEST_P(TrainRaggedBadInput, IsRefusedInOneSentence) {
  const ProgramResult result = train(GetParam().options);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_NE(result.err.find(GetParam().sentence), std::string::npos) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, TrainRaggedBadInput,
    ::testing::Values(
        Refused{"--seq-dist uniform:2-9", "--seq-dist: only for --model gpt; samples of mlp are images"},
        Refused{"--model gpt --seq-dist uniform:2-99", "samples have at most 32 tokens; give --seq 99"},
        Refused{"--model gpt --seq-dist lognormal:500,0.1", "tokens; give --seq 500"},
        Refused{"--model gpt --parallel tp --ranks 2 --seq-dist uniform:2-9",
                "only for --parallel single, dp, mp, ddp, ddp+mp, zero1, zero2 and zero3, not for tp"},
        Refused{"--model gpt --parallel pp --ranks 2 --seq-dist uniform:2-9",
                "zero3, not for pp; in this mode, ranks work on the same samples, which must have equal lengths"},
        Refused{"--model gpt --parallel 3d --ranks 2 --seq-dist uniform:2-9", "not for 3d"},
        Refused{"--model gpt --seq-dist normal:3,4", "must be full, uniform:SHORTEST-LONGEST"}));

TEST(TrainParity, PaceChangesNoNumber) {
  EXPECT_LE(largest_difference(gradients_of(small + "--ranks 2 --pace 20"), reference()), tolerance);
}

TEST(TrainUnused, ParametersThatAStepLeavesOutAreTheSameAsInOneProcess) {
  const auto alone = gradients_of(small + "--parallel single --unused-head");
  EXPECT_TRUE(alone[1].gradients.at("auxiliary.linear.weight").empty());
  EXPECT_LE(largest_difference(gradients_of(small + "--ranks 2 --unused-head --find-unused"), alone), tolerance);
}

TEST(TrainUnused, WithoutFindUnusedTheParameterIsNamed) {
  const ProgramResult result = train(small + "--ranks 2 --unused-head");
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("auxiliary.linear"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("--find-unused"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace rankscope::testing
