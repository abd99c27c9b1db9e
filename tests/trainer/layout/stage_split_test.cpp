#include "rankscope/trainer/layout/stage_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;

const SplitWords mlp{.model = "mlp", .parts = "stages", .fewer = "ranks or chunks"};

TEST(StageSplit, MakesTheCostliestStageAsCheapAsCanBe) {
  EXPECT_THAT(balanced_split(std::vector<double>{1, 1, 1, 1}, 2), ElementsAre(2u, 2u));
  EXPECT_THAT(balanced_split(std::vector<double>{9, 1, 1, 1, 9}, 3), ElementsAre(1u, 3u, 1u));
  EXPECT_THAT(balanced_split(std::vector<double>{3, 1, 1, 1, 1, 1, 1}, 3), ElementsAre(1u, 3u, 3u));
  EXPECT_THAT(balanced_split(std::vector<double>{0, 0, 0}, 3), ElementsAre(1u, 1u, 1u));
  EXPECT_THAT(balanced_split(std::vector<double>{5, 1}, 1), ElementsAre(2u));
}

std::string refused(const std::string& split, std::size_t blocks, std::size_t stages) {
  const auto sizes = split_blocks(split, std::vector<double>(blocks, 1.0), stages, mlp);
  EXPECT_FALSE(sizes);
  if (!sizes) {
    EXPECT_EQ(sizes.error().kind, ErrorKind::usage);
  }
  return sizes ? "" : sizes.error().message;
}

TEST(StageSplit, TakesWhatItIsTold) {
  const auto sizes = split_blocks("3,1,1", std::vector<double>(5, 1.0), 3, mlp);
  ASSERT_TRUE(sizes);
  EXPECT_THAT(*sizes, ElementsAre(3u, 1u, 1u));
}

TEST(StageSplit, SaysWhatDoesNotFit) {
  EXPECT_EQ(refused("", 3, 4),
            "4 stages cannot share the 3 blocks of the model mlp; use fewer ranks or chunks, or a model with more "
            "blocks (gpt and mlp: more --layers)");
  EXPECT_EQ(refused("2,3", 5, 3), "--split 2,3: it has 2 parts, but the number of stages is 3");
  EXPECT_EQ(refused("2,2", 5, 2), "--split 2,2: its parts do not add up to the 5 blocks of the model mlp");
  EXPECT_EQ(refused("18446744073709551615,6", 5, 2),
            "--split 18446744073709551615,6: its parts do not add up to the 5 blocks of the model mlp");
  for (const char* bad : {"2,,3", "2,x", "0,5", ",5", "5,", "-1,6"})
    EXPECT_EQ(refused(bad, 5, 2),
              std::string{"--split "} + bad + ": must be the number of blocks in each part, such as 2,1,3");
}

}  // namespace
}  // namespace rankscope::trainer
