// Tiles of images, and batch normalization over ranks, must compute what one process computes on whole batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

constexpr double tolerance = 1e-10;
const std::string resnet = "--model resnet18 --dtype f64 --steps 10 --global-batch 4 --samples 64 ";
const std::string accumulated = "--model resnet18 --dtype f64 --steps 3 --global-batch 8 --samples 64 --accumulate 2 ";
const std::string pooled = "--model cnn --dtype f64 --steps 10 --global-batch 4 --samples 64 ";

const std::vector<StepGradients>& reference(const std::string& model) {
  static std::map<std::string, std::vector<StepGradients>> known;
  const auto [found, added] = known.try_emplace(model);
  if (added) found->second = gradients_of(model + "--parallel single");
  return found->second;
}

double difference(const std::string& model, const std::string& how) {
  return largest_difference(gradients_of(model + how), reference(model));
}

TEST(TrainTileParity, RowsOfImagesGiveTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(difference(resnet, "--parallel tile --ranks 2"), tolerance);
  EXPECT_LE(difference(resnet, "--parallel tile --ranks 4"), tolerance);
}

TEST(TrainTileParity, SoDoesAGridOfTiles) {
  EXPECT_LE(difference(resnet, "--parallel tile --ranks 4 --tiles 2x2"), tolerance);
  EXPECT_LE(difference(resnet, "--parallel tile --ranks 2 --tiles 1x2"), tolerance);
}

TEST(TrainTileParity, PoolingTakesHalosToo) {
  EXPECT_LE(difference(pooled, "--parallel tile --ranks 2"), tolerance);
  EXPECT_LE(difference(pooled, "--parallel tile --ranks 4 --tiles 2x2"), tolerance);
}

TEST(TrainTileParity, MicroStepsAddUp) { EXPECT_LE(difference(accumulated, "--parallel tile --ranks 2"), tolerance); }

/// Largest relative difference of losses: gradients that are zero but for rounding cannot be compared.
double difference_of_losses(const std::string& model, const std::string& how) {
  const auto steps = gradients_of(model + how);
  const auto& expected = reference(model);
  if (steps.size() != expected.size()) return 1;
  double worst = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    worst = std::max(worst, std::abs(steps[i].loss - expected[i].loss) / std::abs(expected[i].loss));
  return worst;
}

TEST(TrainTileParity, SoDoModelsThatWeighChannelsOrNormalizeFirst) {
  const std::string rest = "--dtype f64 --steps 5 --global-batch 4 --samples 64 ";
  EXPECT_LE(difference_of_losses("--model efficientnet_v2_l " + rest, "--parallel tile --ranks 2"), tolerance);
  EXPECT_LE(difference_of_losses("--model wide_resnet28_10 " + rest, "--parallel ddp --ranks 2 --sync-bn"), tolerance);
  EXPECT_LE(difference_of_losses("--model cnn " + rest, "--parallel zero3 --ranks 2 --sync-bn"), tolerance);
}

TEST(TrainTile, WithoutHalosTheResultIsVisiblyWrong) {
  EXPECT_GT(difference(resnet, "--parallel tile --ranks 2 --halo off"), 1e-2);
}

TEST(TrainSyncBatchNorm, GivesTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(difference(resnet, "--parallel ddp --ranks 2 --sync-bn"), tolerance);
  EXPECT_LE(difference(resnet, "--parallel ddp --ranks 4 --sync-bn"), tolerance);
  EXPECT_LE(difference(accumulated, "--parallel ddp --ranks 2 --sync-bn"), tolerance);
}

TEST(TrainSyncBatchNorm, IsNeededForThat) { EXPECT_GT(difference(resnet, "--parallel ddp --ranks 2"), 1e-3); }

/// The values of a key in the metadata of one rank.
std::map<std::string, std::string> metadata_of(const std::vector<Call>& calls) {
  std::map<std::string, std::string> values;
  for (const Call& call : calls)
    if (call.words.size() > 2 && call.words[0] == "metadata") values[call.words[1]] = call.words[2];
  return values;
}

TEST(TrainTile, TheRecordingNamesTilesAndTheirHalos) {
  const Recorded recorded =
      train_recorded("--parallel tile --model cnn --tiles 2x1 --steps 2 --global-batch 2 --samples 8 --pace off", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  const auto metadata = metadata_of(recorded.ranks[1]);
  EXPECT_EQ(metadata.at("tiles"), "2x1");
  EXPECT_EQ(metadata.at("tile_row"), "1");
  EXPECT_EQ(metadata.at("tile_column"), "0");
  EXPECT_EQ(metadata.at("halo"), "on");
  std::set<std::string> waits;
  for (const Call& call : recorded.ranks[1])
    if (call.words.size() > 2 && call.words[0] == "push" && call.words[1] == "wait") waits.insert(call.words[2]);
  EXPECT_TRUE(waits.contains("wait recv conv1.conv.conv halo rows forward"));
  EXPECT_TRUE(waits.contains("wait recv conv1.conv.conv halo rows backward"));
  EXPECT_TRUE(waits.contains("wait recv conv0.pool halo rows forward"));
  EXPECT_TRUE(waits.contains("wait allreduce head.mean mean of image forward"));
}

std::string refusal(const std::string& options) {
  const ProgramResult result = train("--steps 1 --global-batch 4 --samples 16 " + options);
  EXPECT_EQ(result.status, 2) << options;
  return result.err;
}

TEST(TrainTile, RefusesWhatCannotBeCut) {
  EXPECT_THAT(refusal("--parallel tile --ranks 2 --model mlp"), HasSubstr("needs a convolutional model"));
  EXPECT_THAT(refusal("--parallel tile --ranks 3 --model resnet18"), HasSubstr("not a multiple of 3 tiles"));
  EXPECT_THAT(refusal("--parallel tile --ranks 2 --tiles 2x2 --model resnet18"), HasSubstr("4 tiles for 2 ranks"));
  EXPECT_THAT(refusal("--parallel ddp --ranks 2 --halo off"), HasSubstr("only for --parallel tile"));
  EXPECT_THAT(refusal("--parallel ddp --ranks 2 --sync-bn"), HasSubstr("mlp has no batch normalization"));
  EXPECT_THAT(refusal("--parallel tile --ranks 8 --tiles 8x1 --model resnet18"),
              HasSubstr("not a multiple of 8 tiles"));
}

}  // namespace
}  // namespace rankscope::testing
