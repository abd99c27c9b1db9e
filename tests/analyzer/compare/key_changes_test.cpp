#include "compare/key_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/compare/compared_runs.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::compare_runs;
using ::testing::ElementsAre;
using testing::gpu_text;
using ::testing::IsEmpty;
using testing::names_of;
using testing::run_of;

/// A kernel in 40 grids, each below 1 % of a step, and an operator that launches them.
std::string many_grids(std::uint64_t seed, std::int64_t each_ns, std::int64_t host_ns) {
  std::mt19937_64 random{seed};
  std::normal_distribution<double> normal(1, 0.01);
  std::string text =
      "@run source=kineto clock=same_host clock_error=1000\n@rank 0 meta.global_batch=32 meta.dtype=f32\n"
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  std::int64_t now = 0;
  for (int step = 0; step < 20; ++step) {
    const std::int64_t begin = now;
    text += format("0 op {} {} aten::copy_ lane=main\n", now,
                   now + static_cast<std::int64_t>(static_cast<double>(host_ns) * normal(random)));
    text += format("0 compute {} {} gemm lane=s7\n", now, now + 6'000'000);
    now += 6'000'000;
    for (int grid = 1; grid <= 40; ++grid) {
      const auto length = static_cast<std::int64_t>(static_cast<double>(each_ns) * normal(random));
      text += format("0 compute {} {} norm lane=s7 grid=@\"[{},1,1]\" block=@\"[128,1,1]\"\n", now, now + length, grid);
      now += length;
    }
    text += format("0 step {} {} step index={} lane=main\n", begin, now, step);
  }
  return text;
}

TEST(KeyChanges, AKernelThatIsSlowerInManyGridsIsFoundByItsName) {
  const Comparison found =
      compare_runs(*run_of(many_grids(1, 30'000, 100'000)), *run_of(many_grids(2, 60'000, 100'000)));
  EXPECT_EQ(found.steps.verdict, StepVerdict::slower);
  ASSERT_THAT(names_of(found.keys.changed), ElementsAre("norm"));
  const KeyChange& sum = found.keys.changed.front();
  EXPECT_EQ(sum.keys, 40);
  EXPECT_NEAR(static_cast<double>(sum.change_ns()), 40 * 30e3, 2e4);
}

TEST(KeyChanges, ANameThatIsNearlyOneOfItsKeysIsTestedOnce) {
  // A second grid that takes nothing makes a sum of the name, which says what its first grid says.
  const std::string tiny = "0 compute 500 1500 softmax lane=s7 grid=@\"[9,1,1]\" block=@\"[128,1,1]\"\n";
  const Comparison found = compare_runs(*run_of(gpu_text(20, 1) + tiny), *run_of(gpu_text(20, 2) + tiny));
  EXPECT_EQ(found.keys.in_both, 4);
  EXPECT_EQ(found.keys.tested, 3);
}

TEST(KeyChanges, KeysThatAreListedAsASumAreNotCountedAsSmall) {
  std::string other = many_grids(2, 30'000, 100'000);
  for (std::size_t at = other.find(" norm "); at != std::string::npos; at = other.find(" norm "))
    other.replace(at, 6, " flash ");
  const Comparison found = compare_runs(*run_of(many_grids(1, 30'000, 100'000)), *run_of(other));
  EXPECT_THAT(names_of(found.keys.appeared), ElementsAre("flash"));
  EXPECT_THAT(names_of(found.keys.gone), ElementsAre("norm"));
  EXPECT_EQ(found.keys.small_appeared, 0);
  EXPECT_EQ(found.keys.small_gone, 0);
}

TEST(KeyChanges, AnOperatorOfARankWithAnAcceleratorIsFoundByItsHostTime) {
  const Comparison found =
      compare_runs(*run_of(many_grids(1, 30'000, 100'000)), *run_of(many_grids(2, 30'000, 2'000'000)));
  ASSERT_THAT(names_of(found.keys.changed), ElementsAre("aten::copy_"));
  EXPECT_EQ(found.keys.changed.front().key.kind, KeyKind::op);
}

TEST(KeyChanges, SmallChangesOfManyNamesAreListedWhereNoneIsLarge) {
  const auto text = [](std::int64_t each_ns) {
    std::string all = "@rank 0\n@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
    std::int64_t now = 0;
    for (int step = 0; step < 20; ++step) {
      const std::int64_t begin = now;
      for (int name = 0; name < 200; ++name) {
        all += format("0 compute {} {} k{} lane=s7\n", now, now + each_ns, name);
        now += each_ns;
      }
      all += format("0 step {} {} step index={} lane=main\n", begin, now, step);
    }
    return all;
  };
  const Comparison found = compare_runs(*run_of(text(10'000)), *run_of(text(11'000)));
  EXPECT_THAT(found.keys.changed, IsEmpty());
  EXPECT_EQ(found.keys.below.size(), 5U);
  EXPECT_THAT(compare_runs(*run_of(text(10'000)), *run_of(text(10'000))).keys.below, IsEmpty());
}

}  // namespace
}  // namespace rankscope::analyzer
