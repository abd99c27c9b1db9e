#include "rankscope/trainer/layout/tensor_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;

TEST(TensorPart, IsOneStretchOfATensorWithoutSections) {
  EXPECT_THAT(stretches_of({.parts = 4, .part = 0}, 12), ElementsAre(Stretch{0, 0, 3}));
  EXPECT_THAT(stretches_of({.parts = 4, .part = 3}, 12), ElementsAre(Stretch{9, 0, 3}));
}

TEST(TensorPart, HasTheSamePartOfEverySection) {
  EXPECT_THAT(stretches_of({.sections = 3, .parts = 2, .part = 1}, 12),
              ElementsAre(Stretch{2, 0, 2}, Stretch{6, 2, 2}, Stretch{10, 4, 2}));
}

TEST(TensorPart, OfOnePartIsTheWholeTensor) {
  EXPECT_THAT(stretches_of({}, 7), ElementsAre(Stretch{0, 0, 7}));
  EXPECT_THAT(whole_shape({}, std::vector<std::int64_t>{7, 5}), ElementsAre(7, 5));
  EXPECT_THAT(whole_shape({}, std::vector<std::int64_t>{}), ElementsAre());
}

TEST(TensorPart, KnowsTheShapeOfTheWhole) {
  EXPECT_THAT(whole_shape({.dimension = 1, .parts = 4, .part = 2}, std::vector<std::int64_t>{6, 2}), ElementsAre(6, 8));
  EXPECT_THAT(whole_shape({.dimension = 0, .sections = 3, .parts = 4}, std::vector<std::int64_t>{6, 2}),
              ElementsAre(24, 2));
}

TEST(TensorPart, AllPartsTogetherHaveEveryIndexOnce) {
  for (const std::int64_t parts : {1, 2, 3, 4}) {
    for (const std::int64_t sections : {1, 2, 3}) {
      const std::int64_t extent = parts * sections * 5;
      std::vector<int> owners(static_cast<std::size_t>(extent), 0);
      for (std::int64_t part = 0; part < parts; ++part) {
        std::int64_t next = 0;
        for (const Stretch& stretch : stretches_of({.sections = sections, .parts = parts, .part = part}, extent)) {
          EXPECT_EQ(stretch.in_part, next);
          next += stretch.length;
          for (std::int64_t i = 0; i < stretch.length; ++i) ++owners[static_cast<std::size_t>(stretch.in_whole + i)];
        }
        EXPECT_EQ(next, extent / parts);
      }
      EXPECT_EQ(std::ranges::count(owners, 1), extent) << parts << " parts of " << sections << " sections";
    }
  }
}

}  // namespace
}  // namespace rankscope::trainer
