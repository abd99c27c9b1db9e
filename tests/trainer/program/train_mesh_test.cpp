// Data, tensor and pipeline parallel at once must compute what one process computes, and say who is who.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

constexpr double tolerance = 1e-10;
const std::string gpt =
    "--model gpt --dtype f64 --steps 10 --global-batch 8 --layers 2 --hidden 16 --heads 4 --seq 8 --samples 64 ";

const std::vector<StepGradients>& reference() {
  static const auto steps = gradients_of(gpt + "--parallel single");
  return steps;
}

class TrainMeshParity : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainMeshParity, HasTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(largest_difference(gradients_of(gpt + "--parallel 3d --micro-batches 2 " + GetParam()), reference()),
            tolerance);
}

INSTANTIATE_TEST_SUITE_P(Gpt, TrainMeshParity,
                         ::testing::Values("--ranks 1", "--ranks 2 --dp 2", "--ranks 2 --tp 2", "--ranks 2 --pp 2",
                                           "--ranks 2 --dp 2 --zero1", "--ranks 4 --dp 2 --pp 2",
                                           "--ranks 4 --tp 2 --pp 2 --sequence-parallel",
                                           "--ranks 4 --dp 2 --tp 2 --zero1",
                                           "--ranks 4 --dp 2 --pp 2 --schedule zb-h1 --zero1",
                                           "--ranks 8 --dp 2 --tp 2 --pp 2",
                                           "--ranks 8 --dp 2 --tp 2 --pp 2 --zero1 --sequence-parallel"));

TEST(TrainMesh, AdamInShardsIsAdam) {
  const std::string adam = gpt + "--optimizer adamw --lr 0.01 ";
  EXPECT_LE(largest_difference(gradients_of(adam + "--parallel 3d --micro-batches 2 --ranks 4 --dp 2 --pp 2 --zero1"),
                               gradients_of(adam + "--parallel single")),
            tolerance);
}

std::map<std::string, std::string> metadata_of(const std::vector<Call>& calls) {
  std::map<std::string, std::string> values;
  for (const Call& call : calls)
    if (call.words.size() > 2 && call.words[0] == "metadata") values[call.words[1]] = call.words[2];
  return values;
}

TEST(TrainMesh, EachRankSaysWhereItIs) {
  const Recorded recorded = train_recorded(
      "--parallel 3d --model gpt --dp 2 --pp 2 --micro-batches 2 --global-batch 8 --steps 2 --layers 2 --hidden 8 "
      "--heads 2 --seq 4 --pace off",
      4);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  const auto metadata = metadata_of(recorded.ranks[3]);
  EXPECT_EQ(metadata.at("pp_rank"), "1");
  EXPECT_EQ(metadata.at("dp_rank"), "1");
  EXPECT_EQ(metadata.at("tp_rank"), "0");
  EXPECT_EQ(metadata.at("mesh"), "dp 2 x tp 1 x pp 2");
}

std::string refusal(const std::string& options) {
  const ProgramResult result = train("--parallel 3d --steps 1 --model gpt " + options);
  EXPECT_EQ(result.status, 2) << options;
  return result.err;
}

TEST(TrainMesh, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal("--ranks 4 --dp 2 --tp 2 --pp 2"), HasSubstr("makes 8 ranks, but there are 4"));
  EXPECT_THAT(refusal("--ranks 6 --tp 3 --heads 4"),
              HasSubstr("a vocabulary of 256 tokens cannot be shared equally by 3 ranks"));
  EXPECT_THAT(refusal("--ranks 4 --tp 2 --pp 2 --accumulate 2"), HasSubstr("--micro-batches"));
  EXPECT_THAT(train("--parallel 3d --steps 1 --ranks 4 --tp 2 --pp 2 --model resnet18").err,
              HasSubstr("cannot be split"));
  EXPECT_THAT(train("--parallel ddp --ranks 2 --tp 2").err, HasSubstr("only for --parallel 3d"));
}

}  // namespace
}  // namespace rankscope::testing
