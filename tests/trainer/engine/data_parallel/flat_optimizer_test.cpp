// The optimizer of flat shards against torch's on whole parameters: bit by bit.
#include "engine/data_parallel/flat_optimizer.h"

#include <gtest/gtest.h>

#include "rankscope/trainer/layout/flat_layout.h"

namespace rankscope::trainer {
namespace {

constexpr int ranks = 3;
const std::vector<std::int64_t> sizes{7, 12, 1};

const FlatLayout& layout() {
  static const FlatLayout two_units{sizes, {{2, 1}, {0}}, ranks};
  return two_units;
}

std::vector<at::Tensor> drawn(std::uint64_t seed) {
  torch::manual_seed(seed);
  std::vector<at::Tensor> tensors;
  for (const auto size : sizes) tensors.push_back(at::randn({size}, at::kDouble));
  return tensors;
}

/// A rank's shards of what lies in whole tensors.
std::vector<at::Tensor> shards_of(const std::vector<at::Tensor>& whole, int rank) {
  std::vector<at::Tensor> shards;
  for (std::size_t unit = 0; unit < layout().units().size(); ++unit)
    shards.push_back(at::zeros({layout().shard_size(unit)}, at::kDouble));
  for (const OwnedRange& range : layout().owned_by(rank))
    shards[range.unit]
        .slice(0, range.at, range.at + range.end - range.begin)
        .copy_(whole[range.parameter].slice(0, range.begin, range.end));
  return shards;
}

void update(FlatOptimizer& optimizer, const std::vector<at::Tensor>& gradients, int rank) {
  const auto own = shards_of(gradients, rank);
  for (std::size_t unit = 0; unit < own.size(); ++unit) optimizer.step(unit, own[unit]);
}

class FlatOptimizers : public ::testing::TestWithParam<OptimizerOptions> {};

TEST_P(FlatOptimizers, ShardsGetTheNumbersOfWholeParameters) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto whole = drawn(1);
    const auto torchs = make_optimizer(whole, GetParam());
    const auto shards = shards_of(whole, rank);
    FlatOptimizer optimizer{shards, GetParam()};
    for (std::uint64_t step = 0; step < 5; ++step) {
      const auto gradients = drawn(10 + step);
      for (std::size_t i = 0; i < whole.size(); ++i) whole[i].mutable_grad() = gradients[i];
      torchs->step();
      update(optimizer, gradients, rank);
    }
    const auto expected = shards_of(whole, rank);
    for (std::size_t unit = 0; unit < shards.size(); ++unit) {
      EXPECT_TRUE(at::equal(shards[unit], expected[unit])) << "rank " << rank << ", unit " << unit;
      EXPECT_EQ(optimizer.steps(unit), 5);
    }
  }
}

TEST_P(FlatOptimizers, GoOnFromAStateThatWasRead) {
  const auto shards = shards_of(drawn(1), 1);
  FlatOptimizer first{shards, GetParam()};
  for (std::uint64_t step = 0; step < 3; ++step) update(first, drawn(10 + step), 1);
  std::vector<at::Tensor> copies;
  for (const auto& shard : shards) copies.push_back(shard.clone());
  FlatOptimizer second{copies, GetParam()};
  for (std::size_t unit = 0; unit < copies.size(); ++unit)
    ASSERT_TRUE(second.restore(unit, first.steps(unit), first.state(unit)));
  for (std::uint64_t step = 3; step < 5; ++step) {
    update(first, drawn(10 + step), 1);
    update(second, drawn(10 + step), 1);
  }
  for (std::size_t unit = 0; unit < shards.size(); ++unit) {
    EXPECT_TRUE(at::equal(copies[unit], shards[unit])) << "unit " << unit;
    EXPECT_EQ(second.steps(unit), 5);
  }
}

TEST_P(FlatOptimizers, AreZeroBeforeTheFirstUpdateAndStartFromThat) {
  const auto shards = shards_of(drawn(1), 0);
  const auto others = shards_of(drawn(1), 0);
  FlatOptimizer fresh{shards, GetParam()};
  FlatOptimizer restored{others, GetParam()};
  for (std::size_t unit = 0; unit < shards.size(); ++unit) {
    for (const auto& [name, values] : fresh.state(unit)) EXPECT_EQ(values.abs().sum().item<double>(), 0) << name;
    ASSERT_TRUE(restored.restore(unit, 0, fresh.state(unit)));
  }
  update(fresh, drawn(10), 0);
  update(restored, drawn(10), 0);
  for (std::size_t unit = 0; unit < shards.size(); ++unit) EXPECT_TRUE(at::equal(shards[unit], others[unit]));
}

TEST_P(FlatOptimizers, RefuseTheStateOfOthers) {
  FlatOptimizer optimizer{shards_of(drawn(1), 0), GetParam()};
  const at::Tensor shorter = at::zeros({layout().shard_size(0) - 1}, at::kDouble);
  for (const auto& state : {std::vector<NamedTensor>{{"variance", shorter}},
                            {{"momentum", shorter}},
                            {{"exp_avg", shorter}, {"exp_avg_sq", shorter}}}) {
    const auto refused = optimizer.restore(0, 1, state);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::unreadable);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FlatOptimizers,
    ::testing::Values(
        OptimizerOptions{.kind = OptimizerKind::sgd, .learning_rate = 0.05, .rate = {}},
        OptimizerOptions{.kind = OptimizerKind::sgd, .learning_rate = 0.05, .momentum = 0, .rate = {}},
        OptimizerOptions{.kind = OptimizerKind::sgd, .learning_rate = 0.05, .weight_decay = 0.1, .rate = {}},
        OptimizerOptions{.kind = OptimizerKind::adamw, .learning_rate = 0.01, .weight_decay = 0.1, .rate = {}}));

TEST(FlatOptimizer, NamesItsState) {
  const auto names = [](const OptimizerOptions& options) {
    std::string all;
    for (const auto& entry : FlatOptimizer{shards_of(drawn(1), 0), options}.state(0)) all += entry.name + " ";
    return all;
  };
  EXPECT_EQ(names({.kind = OptimizerKind::sgd, .learning_rate = 0.05, .rate = {}}), "momentum ");
  EXPECT_EQ(names({.kind = OptimizerKind::sgd, .learning_rate = 0.05, .momentum = 0, .rate = {}}), "");
  EXPECT_EQ(names({.kind = OptimizerKind::adamw, .learning_rate = 0.05, .rate = {}}), "exp_avg exp_avg_sq ");
}

}  // namespace
}  // namespace rankscope::trainer
