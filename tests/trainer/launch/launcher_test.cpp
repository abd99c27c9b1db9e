#include "rankscope/trainer/launch/launcher.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rankscope::trainer {
namespace {

LaunchOptions of(int ranks) {
  LaunchOptions options;
  options.ranks = ranks;
  return options;
}

int launch(int ranks, const std::string& script) { return launch_ranks("/bin/sh", {"-c", script}, of(ranks)).value(); }

TEST(Launcher, GivesEachRankItsPlace) {
  EXPECT_EQ(launch(3,
                   "test $LOCAL_RANK = $RANK && test $WORLD_SIZE = 3 && test $LOCAL_WORLD_SIZE = 3 && "
                   "test $MASTER_ADDR = 127.0.0.1 && test $MASTER_PORT -gt 0"),
            0);
  EXPECT_EQ(launch(2, "test $RANK = 1 || test -n \"$RANKSCOPE_STORE_FD\""), 0) << "rank 0 gets the socket";
}

TEST(Launcher, EndsWithTheStatusOfTheFirstRankThatFails) {
  EXPECT_EQ(launch(3, "test $RANK = 1 && exit 7; sleep 0.3; exit 1"), 7);
  EXPECT_EQ(launch(2, "test $RANK = 1 && kill -9 $$; sleep 0.3; exit 1"), 137);
}

TEST(Launcher, AMissingProgramIs127) { EXPECT_EQ(launch_ranks("/nonexistent/program", {}, of(2)).value(), 127); }

}  // namespace
}  // namespace rankscope::trainer
