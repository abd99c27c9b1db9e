#include "rankscope/trainer/layout/tile_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

using ::testing::HasSubstr;

TEST(TileGrid, IsARowForEachRankUnlessTold) {
  const auto rows = tile_grid("", 4);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows, 4);
  EXPECT_EQ(rows->columns, 1);
  const auto grid = tile_grid("2x3", 6);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->rows, 2);
  EXPECT_EQ(grid->columns, 3);
}

TEST(TileGrid, RefusesWhatIsNoGridOrDoesNotFitTheRanks) {
  for (const char* text : {"2", "x2", "2x", "0x4", "2x-1", "2x2x1", "99999999999x1", "two"}) {
    const auto grid = tile_grid(text, 4);
    ASSERT_FALSE(grid) << text;
    EXPECT_THAT(grid.error().message, HasSubstr(text));
  }
  const auto wrong = tile_grid("2x2", 3);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("4 tiles for 3 ranks"));
}

TEST(Halo, IsWhatTheOutputOfATileReachesOver) {
  const auto both = [](const Window& window) {
    const Halo halo = halo_of(window);
    return std::pair{halo.before, halo.after};
  };
  EXPECT_EQ(both({.kernel = 3, .stride = 1, .padding = 1}), std::pair(1L, 1L));
  EXPECT_EQ(both({.kernel = 3, .stride = 2, .padding = 1}), std::pair(1L, 0L));
  EXPECT_EQ(both({.kernel = 1, .stride = 2, .padding = 0}), std::pair(0L, 0L));
  EXPECT_EQ(both({.kernel = 2, .stride = 2, .padding = 0}), std::pair(0L, 0L)) << "tiles of a pooling do not overlap";
  EXPECT_EQ(both({.kernel = 3, .stride = 1, .padding = 2, .dilation = 2}), std::pair(2L, 2L));
  EXPECT_EQ(both({.kernel = 7, .stride = 2, .padding = 3}), std::pair(3L, 2L));
}

std::string refusal(const TiledLayer& layer) {
  const auto checked = check_tiling(layer);
  return checked ? "" : checked.error().message;
}

TEST(Tiling, TakesLayersWhoseTilesAreTheTilesOfTheirOutput) {
  EXPECT_EQ(refusal({"conv", "rows", {3, 1, 1}, 32, 4}), "");
  EXPECT_EQ(refusal({"conv", "rows", {3, 2, 1}, 32, 4}), "");
  EXPECT_EQ(refusal({"conv", "rows", {1, 2, 0}, 32, 4}), "");
  EXPECT_EQ(refusal({"conv", "columns", {5, 1, 0}, 33, 1}), "") << "what is not cut may do as it likes";
}

TEST(Tiling, RefusesOthersWithTheNumbers) {
  EXPECT_THAT(refusal({"layer", "rows", {3, 1, 0}, 32, 4}), HasSubstr("does not keep the image's size"));
  EXPECT_THAT(refusal({"layer", "rows", {3, 1, 2}, 32, 4}), HasSubstr("does not keep the image's size"));
  EXPECT_THAT(refusal({"layer", "rows", {3, 2, 1}, 28, 4}),
              HasSubstr("28 rows, which is not a multiple of 4 tiles x stride 2"));
  EXPECT_THAT(refusal({"layer", "columns", {7, 1, 3}, 8, 4}),
              HasSubstr("a tile would have size 2, less than the halo of 3"));
  EXPECT_THAT(refusal({"stem.conv", "rows", {3, 1, 1}, 7, 2}), HasSubstr("--tiles: stem.conv cannot be cut into 2"));
}

}  // namespace
}  // namespace rankscope::trainer
