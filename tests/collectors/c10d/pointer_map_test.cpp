#include "inject/c10d/pointer_map.h"

#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <memory>
#include <thread>
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

constexpr std::size_t objects_per_thread = 12;
using Objects = std::vector<std::int64_t>;

/// Puts the objects of one thread again and again, with increasing values that end in the place of the object.
/// Returns how often an object had the value of another one.
std::size_t put_again_and_again(PointerMap<8>& map, const Objects& objects, std::size_t thread) {
  std::size_t mixed_up = 0;
  for (std::size_t round = 1; round <= 2'000'000; ++round) {
    const std::size_t i = thread * objects_per_thread + round % objects_per_thread;
    map.put(&objects[i], round << 8 | i);
    for (const std::size_t looked_for : {i, (i + 1) % objects.size()}) {
      const std::uint64_t value = map.get(&objects[looked_for]);
      if (value != 0 && (value & 0xFF) != looked_for) ++mixed_up;
    }
  }
  return mixed_up;
}

TEST(PointerMap, GivesNoObjectTheValueOfAnotherOneWhereThreadsNeedOnePlace) {
  const auto map = std::make_unique<PointerMap<8>>();
  std::array<std::size_t, 3> mixed_up{};
  const Objects objects(mixed_up.size() * objects_per_thread);
  std::latch start{mixed_up.size()};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < mixed_up.size(); ++i)
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        mixed_up[i] = put_again_and_again(*map, objects, i);
      });
  }
  EXPECT_EQ(mixed_up, (std::array<std::size_t, 3>{}));
}

}  // namespace
}  // namespace rankscope::inject::c10d
