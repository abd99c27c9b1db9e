#include "exports/shared/nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> rows_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> times) {
  std::vector<Span> spans;
  for (const auto& [begin, end] : times) spans.push_back({.time = {at(begin), at(end)}, .name = {}, .lane = {}});
  return nesting_rows(spans);
}

TEST(NestingRows, ASpanInsideAnotherSharesItsRow) {
  EXPECT_THAT(rows_of({{0, 100}, {0, 40}, {50, 100}}), ElementsAre(0, 0, 0));
}

TEST(NestingRows, NeighboursShareARow) { EXPECT_THAT(rows_of({{0, 10}, {10, 20}}), ElementsAre(0, 0)); }

TEST(NestingRows, APartialOverlapOpensARow) {
  EXPECT_THAT(rows_of({{0, 10}, {5, 15}, {12, 20}}), ElementsAre(0, 1, 0));
}

TEST(NestingRows, EachFurtherOverlapOpensAnother) {
  EXPECT_THAT(rows_of({{0, 10}, {1, 11}, {2, 12}, {3, 4}}), ElementsAre(0, 1, 2, 0));
}

TEST(NestingRows, SpansWithoutLengthFitAnywhere) {
  EXPECT_THAT(rows_of({{0, 10}, {0, 0}, {10, 10}, {10, 10}}), ElementsAre(0, 0, 0, 0));
}

TEST(NestingRows, NothingHasNoRows) { EXPECT_TRUE(nesting_rows({}).empty()); }

}  // namespace
}  // namespace rankscope::analyzer
