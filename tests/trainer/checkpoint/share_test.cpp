#include "rankscope/trainer/checkpoint/share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace rankscope::trainer {
namespace {

std::int64_t elements_in(const std::vector<TensorRange>& ranges) {
  std::int64_t elements = 0;
  for (const TensorRange& entry : ranges) elements += entry.range.count();
  return elements;
}

TEST(WhoWritesWhat, EachElementOfAReplicatedStateIsWrittenOnce) {
  const std::vector<HeldTensor> held{{"embedding", 5000}, {"weight", 300}, {"bias", 7}, {"scalar", 1, 8}, {"empty", 0}};
  for (int world = 1; world <= 9; ++world) {
    std::map<std::string, std::vector<int>> writers;
    for (const HeldTensor& tensor : held) writers[tensor.name].resize(static_cast<std::size_t>(tensor.elements));
    for (int rank = 0; rank < world; ++rank)
      for (const TensorRange& entry : ranges_to_write(held, rank, world))
        for (std::int64_t i = entry.range.begin; i < entry.range.end; ++i)
          ++writers[entry.tensor][static_cast<std::size_t>(i)];
    for (const auto& [name, count] : writers)
      EXPECT_TRUE(std::ranges::all_of(count, [](int n) { return n == 1; })) << name << " of " << world;
  }
}

TEST(WhoWritesWhat, TheWorkIsEvenAlsoWhereOneTensorIsMostOfIt) {
  const std::vector<HeldTensor> held{{"embedding", 100'000}, {"a", 1000}, {"b", 1000}, {"c", 900}, {"d", 700}};
  for (const int world : {2, 4, 8}) {
    const std::int64_t even = (103'600 + world - 1) / world;
    for (int rank = 0; rank < world; ++rank) EXPECT_LE(elements_in(ranges_to_write(held, rank, world)), even * 4 / 3);
  }
}

TEST(WhoWritesWhat, TensorsSmallerThanAnEvenShareStayWhole) {
  const std::vector<HeldTensor> held{{"a", 10}, {"b", 10}, {"c", 10}, {"d", 10}};
  for (int rank = 0; rank < 2; ++rank)
    for (const TensorRange& entry : ranges_to_write(held, rank, 2)) EXPECT_EQ(entry.range, (ElementRange{0, 10}));
}

TEST(WhoWritesWhat, WhatARankOwnsItWritesItself) {
  const std::vector<HeldTensor> held{{"w", 100, 4, ElementRange{25, 50}}, {"not mine", 100, 4, ElementRange{40, 40}}};
  EXPECT_EQ(ranges_to_write(held, 1, 4), (std::vector<TensorRange>{{"w", {25, 50}}}));
}

TEST(WhoWritesWhat, ReplicasOfAStageShareItAmongThemselves) {
  // Ranks 0 and 2 hold stage 0, ranks 1 and 3 stage 1; the step counter is everywhere.
  std::map<std::string, std::int64_t> written;
  for (int rank = 0; rank < 4; ++rank) {
    const int stage = rank % 2;
    const std::string name = stage == 0 ? "first" : "second";
    const std::vector<HeldTensor> held{{name, 64, 4, {}, {stage, stage + 2}}, {"counter", 4}};
    const auto ranges = ranges_to_write(held, rank, 4);
    for (const TensorRange& entry : ranges) written[entry.tensor] += entry.range.count();
    EXPECT_EQ(elements_in(ranges), 33);
  }
  EXPECT_EQ(written, (std::map<std::string, std::int64_t>{{"counter", 4}, {"first", 64}, {"second", 64}}));
}

}  // namespace
}  // namespace rankscope::trainer
