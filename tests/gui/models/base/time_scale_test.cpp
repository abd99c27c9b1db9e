// Time to pixels and back.
#include <gtest/gtest.h>

#include "rankscope/gui/models/base/time_scale.h"

namespace rankscope::gui {
namespace {

TEST(TimeScale, PlacesTimesAndFindsThemAgain) {
  const TimeScale scale{.time = {at(1000), at(2000)}, .left = 100, .width = 500};
  EXPECT_DOUBLE_EQ(scale.x_of(at(1000)), 100);
  EXPECT_DOUBLE_EQ(scale.x_of(at(1500)), 350);
  EXPECT_EQ(scale.time_at(350), at(1500));
}

TEST(TimeScale, KeepsNanosecondsFarFromTheStart) {
  constexpr std::int64_t day = 86'400'000'000'000;
  const TimeScale scale{.time = {at(1000 * day), at(1000 * day + 100)}, .left = 0, .width = 1000};
  for (std::int64_t ns = 0; ns < 100; ++ns) {
    const RunTime moment = at(1000 * day + ns);
    EXPECT_EQ(scale.time_at(scale.x_of(moment)), moment);
  }
}

TEST(TimeScale, ZoomKeepsWhatIsUnderTheMouse) {
  const TimeScale scale{.time = {at(0), at(1'000'000)}, .left = 0, .width = 1000};
  for (const double x : {0.0, 250.0, 777.0, 1000.0}) {
    const TimeScale zoomed{.time = scale.zoomed(0.5, x), .left = 0, .width = 1000};
    EXPECT_EQ(zoomed.time.length(), nanoseconds{500'000});
    EXPECT_NEAR(zoomed.x_of(scale.time_at(x)), x, 0.01);
  }
}

TEST(TimeScale, PansByPixels) {
  const TimeScale scale{.time = {at(0), at(1000)}, .left = 0, .width = 100};
  EXPECT_EQ(scale.panned(10), (TimeRange{at(100), at(1100)}));
  EXPECT_EQ(scale.panned(-10), (TimeRange{at(-100), at(900)}));
}

TEST(TimeScale, TicksAreRoundNumbersThatAreFarEnoughApart) {
  const TimeScale scale{.time = {at(0), at(1'000'000)}, .left = 0, .width = 1000};
  EXPECT_EQ(tick_distance(scale, 100), nanoseconds{100'000});
  EXPECT_EQ(tick_distance(scale, 110), nanoseconds{200'000});
  EXPECT_EQ(tick_distance(scale, 300), nanoseconds{500'000});
  EXPECT_EQ(tick_distance(scale, 501), nanoseconds{1'000'000});
}

}  // namespace
}  // namespace rankscope::gui
