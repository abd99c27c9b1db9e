#include "rankscope/core/process_stat.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace rankscope {
namespace {

constexpr std::string_view rest = "1 7 7 0 -1 4194304 100 0 0 0 5 2 0 0 20 0 1 0 987654 1000 50";

TEST(ProcessStat, StateAndStartStandBehindAnyName) {
  for (const std::string name : {"python3", "tmux: server", "a) S 1 (b"}) {
    const auto stat = parse_process_stat("42 (" + name + ") T " + std::string{rest});
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->state, 'T') << name;
    EXPECT_EQ(stat->threads, 1) << name;
    EXPECT_EQ(stat->start_ticks_of_boot, 987654U) << name;
  }
}

TEST(ProcessStat, TheStatusOfAMainThreadThatHasEndedIsTheLastField) {
  const std::string until_52 = " 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
  const auto stat = parse_process_stat("42 (sh) Z " + std::string{rest} + until_52 + " 768\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->wait_status, 768);
  EXPECT_EQ(parse_process_stat("42 (sh) Z " + std::string{rest})->wait_status, 0) << "of an old kernel";
}

TEST(ProcessStat, ATextThatEndsEarlyIsNone) {
  for (const char* text : {"", "42", "42 (sh)", "42 (sh) ", "42 (sh) S 1 2 3"})
    EXPECT_FALSE(parse_process_stat(text)) << text;
}

TEST(ProcessStat, ThisProcessRunsAndHasAStart) {
  const auto own = process_stat(getpid());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->state, 'R');
  EXPECT_GT(own->start_ticks_of_boot, 0U);
}

TEST(ProcessStat, AnAbsentProcessIsNone) { EXPECT_FALSE(process_stat(-1)); }

}  // namespace
}  // namespace rankscope
