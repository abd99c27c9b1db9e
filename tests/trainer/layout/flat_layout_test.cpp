#include "rankscope/trainer/layout/flat_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::int64_t> sizes{6, 1, 4, 3};

TEST(FlatLayout, UnitsArePaddedToAMultipleOfTheRanks) {
  const FlatLayout layout{sizes, {{3, 2}, {1, 0}}, 4};
  ASSERT_EQ(layout.units().size(), 2u);
  EXPECT_THAT(layout.units()[0].begins, ElementsAre(0, 3));
  EXPECT_EQ(layout.units()[0].used, 7);
  EXPECT_EQ(layout.units()[0].padded, 8);
  EXPECT_EQ(layout.shard_size(0), 2);
  EXPECT_THAT(layout.units()[1].begins, ElementsAre(0, 1));
  EXPECT_EQ(layout.units()[1].padded, 8) << "7 used";
}

TEST(FlatLayout, AShardCutsParametersWhereItEnds) {
  const FlatLayout layout{sizes, {{3, 2}, {1, 0}}, 2};
  EXPECT_THAT(layout.owned_by(0), ElementsAre(OwnedRange{.parameter = 3, .begin = 0, .end = 3, .unit = 0, .at = 0},
                                              OwnedRange{.parameter = 2, .begin = 0, .end = 1, .unit = 0, .at = 3},
                                              OwnedRange{.parameter = 1, .begin = 0, .end = 1, .unit = 1, .at = 0},
                                              OwnedRange{.parameter = 0, .begin = 0, .end = 3, .unit = 1, .at = 1}));
  EXPECT_THAT(layout.owned_by(1), ElementsAre(OwnedRange{.parameter = 2, .begin = 1, .end = 4, .unit = 0, .at = 0},
                                              OwnedRange{.parameter = 0, .begin = 3, .end = 6, .unit = 1, .at = 0}));
}

TEST(FlatLayout, PaddingBelongsToNobody) {
  const FlatLayout layout{std::vector<std::int64_t>{2}, {{0}}, 4};
  EXPECT_EQ(layout.shard_size(0), 1);
  EXPECT_THAT(layout.owned_by(1), ElementsAre(OwnedRange{.parameter = 0, .begin = 1, .end = 2, .unit = 0, .at = 0}));
  EXPECT_THAT(layout.owned_by(2), IsEmpty());
  EXPECT_THAT(layout.owned_by(3), IsEmpty());
}

TEST(FlatLayout, OneRankOwnsEverything) {
  const FlatLayout layout{sizes, {{0, 1, 2, 3}}, 1};
  EXPECT_EQ(layout.units()[0].padded, 14);
  EXPECT_EQ(layout.owned_by(0).size(), 4u);
}

TEST(FlatLayout, AParameterWithoutElementsIsNowhere) {
  const FlatLayout layout{std::vector<std::int64_t>{3, 0, 1}, {{0, 1, 2}}, 2};
  EXPECT_THAT(layout.owned_by(1), ElementsAre(OwnedRange{.parameter = 0, .begin = 2, .end = 3, .unit = 0, .at = 0},
                                              OwnedRange{.parameter = 2, .begin = 0, .end = 1, .unit = 0, .at = 1}));
}

// Whatever the number of ranks: a shard is as long as what is in it, and each element has one owner.
TEST(FlatLayout, EveryElementHasExactlyOneOwner) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const FlatLayout layout{sizes, {{3}, {2, 1}, {0}}, ranks};
    std::vector<std::vector<int>> owners;
    for (const auto size : sizes) owners.emplace_back(size, 0);
    for (int rank = 0; rank < ranks; ++rank) {
      for (const OwnedRange& range : layout.owned_by(rank)) {
        EXPECT_LE(range.at + range.end - range.begin, layout.shard_size(range.unit)) << ranks;
        for (std::int64_t i = range.begin; i < range.end; ++i) ++owners[range.parameter][static_cast<std::size_t>(i)];
      }
    }
    for (const auto& parameter : owners) EXPECT_THAT(parameter, ::testing::Each(1)) << ranks;
  }
}

}  // namespace
}  // namespace rankscope::trainer
