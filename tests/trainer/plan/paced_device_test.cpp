// A pacer of work that a device does: the times that the host sees are those of the device.
#include <gtest/gtest.h>

#include "rankscope/trainer/plan/pace.h"

namespace rankscope::trainer {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// A device that does nothing, and what a pacer wants of it.
struct Wanted {
  int finished = 0;
  std::vector<nanoseconds> busy{};

  PacedDevice device() {
    return {.finish = [this] { ++finished; }, .keep_busy = [this](nanoseconds time) { busy.push_back(time); }};
  }
};

TEST(PacedDevice, IsLeftAloneWithoutPaceAndFault) {
  Wanted wanted;
  Pacer pacer{PaceSchedule{}, {}, wanted.device()};
  pacer.begin();
  pacer.part_done(0ns);
  EXPECT_EQ(wanted.finished, 0);
  EXPECT_TRUE(wanted.busy.empty());
}

TEST(PacedDevice, IsBusyForTheRestOfTheNominalTime) {
  Wanted wanted;
  Pacer pacer{PaceSchedule{}, {}, wanted.device()};
  pacer.begin();
  pacer.part_done(1h);
  EXPECT_EQ(wanted.finished, 1);
  ASSERT_EQ(wanted.busy.size(), 1u);
  EXPECT_GT(wanted.busy[0], 59min);
  EXPECT_LE(wanted.busy[0], 1h);
}

TEST(PacedDevice, IsBusyForLongerWhereTheRankIsSlow) {
  Wanted wanted;
  Pacer pacer{PaceSchedule{}, {}, wanted.device()};
  pacer.slow_down(3);
  pacer.begin();
  pacer.part_done(1h);
  EXPECT_EQ(wanted.finished, 2) << "what was begun before the part is not of it";
  ASSERT_EQ(wanted.busy.size(), 1u);
  EXPECT_GT(wanted.busy[0], 179min);
}

TEST(PacedDevice, IsBusyInProportionToTheWorkOfAnUnpacedSlowRank) {
  Wanted wanted;
  Pacer pacer{PaceSchedule{}, {}, wanted.device()};
  pacer.slow_down(1e9);  // so that the nanoseconds of this test are much
  pacer.begin();
  pacer.part_done(0ns);
  ASSERT_EQ(wanted.busy.size(), 1u);
  EXPECT_GT(wanted.busy[0], 1us);
}

}  // namespace
}  // namespace rankscope::trainer
