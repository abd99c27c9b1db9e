// Steps that are drawn from measured ones.
#include "scaling/monte_carlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::analyzer::scaling {
namespace {

using ::testing::Each;

/// Steps without collectives.
Pool pool_of(std::initializer_list<std::int64_t> steps_ns) {
  Pool pool;
  for (const std::int64_t ns : steps_ns) {
    StepSystem system;
    system.ways_ns = {ns};
    system.own_ns = static_cast<double>(ns);
    pool.systems.push_back(system);
  }
  return pool;
}

TEST(MonteCarlo, TheTypicalStepIsTheMedianOne) {
  const Draw typical{.ranks = 4, .noise = false};
  EXPECT_THAT(drawn_steps(pool_of({300, 100, 200}), typical, 1), Each(200));
  EXPECT_THAT(drawn_steps(pool_of({400, 100, 200, 300}), typical, 1), Each(200))
      << "of two in the middle the lower one";
}

}  // namespace
}  // namespace rankscope::analyzer::scaling
