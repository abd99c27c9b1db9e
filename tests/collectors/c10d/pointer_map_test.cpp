#include "inject/c10d/pointer_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "inject/c10d/operation.h"

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

TEST(PointerMap, ForgetsAnEndedReceiveBeforeALaterAllreduce) {
  const auto map = std::make_unique<PointerMap<8>>();  // so few places that all objects share them
  const std::vector<std::int64_t> objects(10);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) map->put(&objects[i], packed(++number, i % 2 == 0 ? Op::recv : Op::barrier));
  const Operation running = packed(++number, Op::allreduce);
  map->put(&objects[8], running);
  map->put(&objects[9], packed(++number, Op::recv));
  EXPECT_EQ(map->get(&objects[8]), running);
}

TEST(PointerMap, KeepsTheNumberAndTheKindOfAnOperation) {
  const std::uint64_t largest = (std::uint64_t{1} << 56) - 1;
  EXPECT_EQ(number_of(packed(largest, Op::recv)), largest);
  EXPECT_EQ(op_of(packed(largest, Op::recv)), Op::recv);
  EXPECT_EQ(op_of(0), Op::none);
}

}  // namespace
}  // namespace rankscope::inject::c10d
