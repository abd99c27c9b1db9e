#include "launch/hang_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "spool/segment_names.h"
#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

using std::chrono::seconds;

recording::LiveView view_of(std::uint64_t events, std::uint64_t steps, std::uint64_t marks = 0) {
  recording::LiveView view;
  recording::LiveProcess process;
  process.pid = 7;
  process.rank = 0;
  process.events = events;
  process.marks = marks;
  process.steps = steps;
  view.processes.push_back(process);
  return view;
}

StandstillClock::Time at_second(int second) { return StandstillClock::Time{} + seconds{second}; }

TEST(Standstill, IsToldOnceAfterThePatience) {
  StandstillClock clock{seconds{5}};
  EXPECT_FALSE(clock.stands_still(view_of(10, 1), at_second(0)));
  EXPECT_FALSE(clock.stands_still(view_of(10, 1), at_second(4)));
  EXPECT_TRUE(clock.stands_still(view_of(10, 1), at_second(5)));
  EXPECT_FALSE(clock.stands_still(view_of(10, 1), at_second(20))) << "it was told already";
  EXPECT_FALSE(clock.stands_still(view_of(11, 1), at_second(21)));
  EXPECT_TRUE(clock.stands_still(view_of(11, 1), at_second(27))) << "another standstill";
}

TEST(Standstill, SamplesOfCodeAreNoMovement) {
  StandstillClock clock{seconds{5}};
  EXPECT_FALSE(clock.stands_still(view_of(10, 1, 2), at_second(0)));
  EXPECT_TRUE(clock.stands_still(view_of(40, 1, 32), at_second(5)));
}

TEST(Standstill, BeforeTheFirstStepThePatienceIsLonger) {
  StandstillClock clock{seconds{5}};
  EXPECT_FALSE(clock.stands_still(view_of(10, 0), at_second(0)));
  EXPECT_FALSE(clock.stands_still(view_of(10, 0), at_second(59)));
  EXPECT_TRUE(clock.stands_still(view_of(10, 0), at_second(60)));
}

TEST(Standstill, AFullRingIsMovement) {
  StandstillClock clock{seconds{5}};
  recording::LiveView view = view_of(10, 1);
  EXPECT_FALSE(clock.stands_still(view, at_second(0)));
  view.processes.front().dropped = 3;
  EXPECT_FALSE(clock.stands_still(view, at_second(5)));
  EXPECT_TRUE(clock.stands_still(view, at_second(10)));
}

TEST(Standstill, IsNotToldWhileProcessesAreLeftOut) {
  StandstillClock clock{seconds{5}};
  recording::LiveView view = view_of(10, 1);
  view.left_out = 1;
  EXPECT_FALSE(clock.stands_still(view, at_second(0)));
  EXPECT_FALSE(clock.stands_still(view, at_second(100))) << "the one that is left out may move";
  view.left_out = 0;
  EXPECT_FALSE(clock.stands_still(view, at_second(104)));
  EXPECT_TRUE(clock.stands_still(view, at_second(105)));
}

TEST(Standstill, BeginsAnewOnceItIsForgotten) {
  StandstillClock clock{seconds{5}};
  EXPECT_FALSE(clock.stands_still(view_of(10, 1), at_second(0)));
  clock.forget();
  EXPECT_FALSE(clock.stands_still(view_of(10, 1), at_second(6))) << "nothing was expected before";
  EXPECT_TRUE(clock.stands_still(view_of(10, 1), at_second(11)));
  clock.forget();
  EXPECT_FALSE(clock.stands_still(view_of(10, 1), at_second(12)));
  EXPECT_TRUE(clock.stands_still(view_of(10, 1), at_second(17))) << "it may hang by now";
}

TEST(Standstill, AJobWhoseRanksHaveEndedDoesNotHang) {
  StandstillClock clock{seconds{5}};
  recording::LiveView view = view_of(10, 1);
  view.processes.front().ended = true;
  EXPECT_FALSE(clock.stands_still(view, at_second(0)));
  EXPECT_FALSE(clock.stands_still(view, at_second(100)));
  EXPECT_FALSE(clock.stands_still({}, at_second(200)));
}

TEST(HangAfter, NeedsARecordingThatIsAlwaysOn) {
  RecordOptions options;
  options.command = {"true"};
  options.hang_after_s = 5;
  options.window = "1,1,1,1";
  const auto with_window = run_recorded(options);
  ASSERT_FALSE(with_window);
  EXPECT_EQ(with_window.error().kind, ErrorKind::usage);
  EXPECT_NE(with_window.error().message.find("--window"), std::string::npos) << with_window.error().message;
  options.window.clear();
  options.toggle = "cuda";
  const auto toggled = run_recorded(options);
  ASSERT_FALSE(toggled);
  EXPECT_NE(toggled.error().message.find("--toggle cuda"), std::string::npos) << toggled.error().message;
}

TEST(Turn, IsTakenByOneRecorderOnly) {
  const rankscope::testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "speaks";
  EXPECT_TRUE(take_turn(file));
  EXPECT_TRUE(take_turn(file)) << "it keeps its turn";
  const auto turn_of = [&file](const std::string& name) { std::ofstream{file} << name; };
  turn_of(segment_stem(getppid()) + ".rseg");
  EXPECT_FALSE(take_turn(file));
  turn_of("another-host-7-7.rseg");
  EXPECT_FALSE(take_turn(file)) << "whether it runs cannot be seen from here";
  turn_of(host_name() + "-" + std::to_string(getppid()) + "-1.rseg");
  EXPECT_TRUE(take_turn(file)) << "that recorder has ended";
}

TEST(Whereabouts, AreKnownByHostNumberAndStart) {
  const rankscope::testing::TemporaryFolder folder;
  const auto segment = [&folder](const std::string& name) { std::ofstream{folder / name}; };
  const pid_t own = getpid();
  EXPECT_EQ(whereabouts_of(own, folder.path()), Whereabouts::unknown) << "it left no segment here";
  segment("another-host-" + std::to_string(own) + "-" + std::to_string(start_of(own)) + ".rseg");
  EXPECT_EQ(whereabouts_of(own, folder.path()), Whereabouts::unknown);
  segment(host_name() + "-" + std::to_string(own) + "-1.rseg");
  EXPECT_EQ(whereabouts_of(own, folder.path()), Whereabouts::gone) << "the number belongs to another process by now";
  segment(segment_stem(own) + ".rseg");
  EXPECT_EQ(whereabouts_of(own, folder.path()), Whereabouts::here);
}

}  // namespace
}  // namespace rankscope::collectors
