#include "rankscope/trainer/layout/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Megatron-LM's default order, docs/mesh.md.
TEST(Mesh, HasTheGoldenGroupsOfTwoByTwoByTwo) {
  const MeshShape shape{.data = 2, .tensor = 2, .pipeline = 2};
  EXPECT_THAT(Mesh(shape, 0).tensor_group(), ElementsAre(0, 1));
  EXPECT_THAT(Mesh(shape, 5).tensor_group(), ElementsAre(4, 5));
  EXPECT_THAT(Mesh(shape, 7).tensor_group(), ElementsAre(6, 7));
  EXPECT_THAT(Mesh(shape, 0).data_group(), ElementsAre(0, 2));
  EXPECT_THAT(Mesh(shape, 3).data_group(), ElementsAre(1, 3));
  EXPECT_THAT(Mesh(shape, 6).data_group(), ElementsAre(4, 6));
  EXPECT_THAT(Mesh(shape, 0).pipeline_group(), ElementsAre(0, 4));
  EXPECT_THAT(Mesh(shape, 7).pipeline_group(), ElementsAre(3, 7));
}

TEST(Mesh, PutsEachRankAtAPlaceOfItsOwn) {
  const MeshShape shape{.data = 3, .tensor = 2, .pipeline = 4};
  for (int rank = 0; rank < 24; ++rank) {
    const Mesh mesh{shape, rank};
    EXPECT_EQ(mesh.rank_at(mesh.position()), rank);
    EXPECT_EQ(mesh.tensor_group()[static_cast<std::size_t>(mesh.position().tensor)], rank);
    EXPECT_EQ(mesh.data_group()[static_cast<std::size_t>(mesh.position().data)], rank);
    EXPECT_EQ(mesh.pipeline_group()[static_cast<std::size_t>(mesh.position().pipeline)], rank);
  }
}

MeshShape shape_of(const MeshShape& given, int ranks) {
  const auto shape = mesh_shape(given, ranks);
  EXPECT_TRUE(shape) << shape.error().message;
  return shape ? *shape : MeshShape{};
}

TEST(Mesh, FillsInTheSizeThatIsNotGiven) {
  EXPECT_EQ(shape_of({.data = 0, .tensor = 2, .pipeline = 2}, 8), (MeshShape{2, 2, 2}));
  EXPECT_EQ(shape_of({.data = 2, .tensor = 2, .pipeline = 0}, 8), (MeshShape{2, 2, 2}));
  EXPECT_EQ(shape_of({.data = 0, .tensor = 0, .pipeline = 2}, 8), (MeshShape{4, 1, 2})) << "copies, if nothing is said";
  EXPECT_EQ(shape_of({.data = 1, .tensor = 4, .pipeline = 1}, 4), (MeshShape{1, 4, 1}));
}

TEST(Mesh, RefusesSizesThatDoNotMultiplyUpToTheRanks) {
  const auto wrong = mesh_shape({.data = 2, .tensor = 2, .pipeline = 2}, 6);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_THAT(wrong.error().message, HasSubstr("--dp 2 x --tp 2 x --pp 2 makes 8 ranks, but there are 6"));
  EXPECT_FALSE(mesh_shape({.data = 0, .tensor = 4, .pipeline = 0}, 6));
}

}  // namespace
}  // namespace rankscope::trainer
