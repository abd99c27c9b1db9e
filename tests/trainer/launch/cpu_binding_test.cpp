#include "rankscope/trainer/launch/cpu_binding.h"

#include <gmock/gmock.h>
#include <sched.h>

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CpuBinding, RanksHaveEqualPartsOneBehindTheOther) {
  const std::vector<int> allowed{0, 1, 4, 5, 6, 7, 9};
  EXPECT_THAT(cores_of(allowed, {.rank = 0, .ranks = 3}).value(), ElementsAre(0, 1));
  EXPECT_THAT(cores_of(allowed, {.rank = 1, .ranks = 3, .threads = 2}).value(), ElementsAre(4, 5));
  EXPECT_THAT(cores_of(allowed, {.rank = 2, .ranks = 3}).value(), ElementsAre(6, 7));
}

TEST(CpuBinding, FewerCoresThanThreadsAreRefusedWithTheNumbers) {
  const auto refused = cores_of(std::vector<int>{0, 1, 2}, {.rank = 0, .ranks = 2, .threads = 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message,
              HasSubstr("2 ranks x 2 threads need one core per thread, but only 3 can be used"));
  EXPECT_THAT(refused.error().message, HasSubstr("(0-2)"));
}

TEST(CpuBinding, AProcessStaysOnItsCores) {
  const std::vector<int> before = allowed_cores();
  ASSERT_FALSE(before.empty());
  const auto bound =
      bind_to_cores({.rank = static_cast<int>(before.size()) - 1, .ranks = static_cast<int>(before.size())});
  EXPECT_EQ(bound.value(), std::to_string(before.back()));
  EXPECT_THAT(allowed_cores(), ElementsAre(before.back()));
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const int core : before) CPU_SET(static_cast<std::size_t>(core), &all);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace rankscope::trainer
