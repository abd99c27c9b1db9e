#include "inject/c10d/pointer_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace rankscope::inject::c10d {
namespace {

TEST(PointerMap, KnowsWhatWasPutLast) {
  const auto map = std::make_unique<PointerMap<64>>();
  const int object = 0;
  EXPECT_EQ(map->get(&object), 0U);
  map->put(&object, 7);
  map->put(&object, 8);
  EXPECT_EQ(map->get(&object), 8U);
  map->put(&object, 0);
  EXPECT_EQ(map->get(&object), 0U) << "another object has its address now";
}

TEST(PointerMap, TakesOut) {
  const auto map = std::make_unique<PointerMap<64>>();
  const int object = 0;
  map->put(&object, 7);
  EXPECT_EQ(map->take(&object), 7U);
  EXPECT_EQ(map->take(&object), 0U);
}

TEST(PointerMap, ForgetsTheOldestWhereThereIsNoRoom) {
  const auto map = std::make_unique<PointerMap<64>>();
  const std::vector<std::int64_t> objects(1000);
  for (std::size_t i = 0; i < objects.size(); ++i) map->put(&objects[i], i + 1);
  std::size_t known = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::uint64_t value = map->get(&objects[i]);
    EXPECT_TRUE(value == 0 || value == i + 1) << "of one object never what was said of another";
    known += value != 0 ? 1U : 0U;
  }
  EXPECT_GT(known, 32U);
  EXPECT_LE(known, 64U);
  EXPECT_EQ(map->get(&objects.back()), 1000U);
}

}  // namespace
}  // namespace rankscope::inject::c10d
