// A run whose clocks are read in run time: everything keeps its place but the times.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"

namespace rankscope {
namespace {

constexpr std::string_view text_of_two =
    "@run source=kineto world_size=2 clock=wall_clock clock_error=10 meta.model=mlp\n"
    "@rank 0 host=a recorded=0:5000\n@rank 1 host=b recorded=100:5100 meta.key=1\n@device 1 0 name=GPU\n"
    "@group dp 0,1\n@quality events_dropped 3 here\n"
    "@quality chunks_missing 1 there rank=1 time=200:300\n"
    "0 step 0 4000 step index=0\n0 comm 40 90 allreduce group=dp seq=3 enqueued=30 on=main\n"
    "1 runtime 110 120 launch correlation=1\n1 compute 130 200 gemm lane=\"stream 0\" correlation=1\n"
    "1 comm 140 190 allreduce group=dp seq=3 enqueued=130 on=main\n1 comm 300 - allreduce group=dp seq=4 "
    "state=started\n"
    "1 comm 400 - allreduce group=dp seq=5 on=main\n@link launch 2 3\n"
    "0 mark 50 here kind=1\n1 mark 51 there\n0 counter 60 1 rss_bytes\n1 counter 160 2 rss_bytes\n";

std::shared_ptr<const Run> run_of(std::string_view text) { return run_from_text(text).value(); }

std::string retimed_text(const Run& run) {
  std::ostringstream out;
  write_text(run, out);
  return out.str();
}

TEST(RetimedRun, IsTheSameRunWhereEveryClockIsRight) {
  const auto run = run_of(text_of_two);
  const std::vector<ClockMap> right(run->processes().size());
  EXPECT_EQ(retimed_text(*RunBuilder::retimed(*run, right)), retimed_text(*run));
}

TEST(RetimedRun, MovesEverythingOfAProcessAndNothingElse) {
  const auto run = run_of(text_of_two);
  std::vector<ClockMap> maps(run->processes().size());
  maps[1].ahead = nanoseconds{100};
  const auto result = RunBuilder::retimed(*run, maps);
  EXPECT_EQ(result->marks().front().time, at(-49)) << "marks of all ranks lie on one axis";
  const std::string moved = retimed_text(*result);
  for (const std::string_view line :
       {"host=b recorded=0:5000", "1 runtime 10 20 launch", "1 compute 30 100 gemm", "1 comm 40 90 allreduce",
        "enqueued=30", "1 comm 200 - allreduce", "1 comm 300 - allreduce", "1 mark -49 there",
        "1 counter 60 2 rss_bytes", "0 comm 40 90 allreduce", "0 mark 50 here", "0 counter 60 1 rss_bytes",
        "@link launch", "@quality events_dropped 3", "@quality chunks_missing 1 there rank=1 time=100:200"})
    EXPECT_NE(moved.find(line), std::string::npos) << line << "\n" << moved;
}

TEST(RetimedRun, KeepsTheOrderOfSpansThatAClockBringsTogether) {
  std::string text = "@rank 0\n";
  for (int i = 0; i < 20'000; ++i) text += "0 op " + std::to_string(i) + " " + std::to_string(40'000 + i) + " op\n";
  const auto run = run_of(text);
  const auto moved = RunBuilder::retimed(*run, std::vector<ClockMap>{{.rate = 200e-6}});
  for (std::size_t i = 1; i < moved->spans().size(); ++i) {
    const TimeRange before = moved->spans()[i - 1].time;
    const TimeRange time = moved->spans()[i].time;
    ASSERT_TRUE(before.begin < time.begin || (before.begin == time.begin && before.end >= time.end)) << i;
  }
  EXPECT_NEAR(static_cast<double>(ns_of(moved->extent().end)), 59'999 / 1.0002, 2);
}

TEST(RetimedRun, KeepsSpansTogetherThatBeginTogether) {
  const auto run = run_of("@rank 0\n0 op 2500 2501 a\n0 op 2501 2600 parent\n0 op 2501 2590 child\n");
  const auto moved = RunBuilder::retimed(*run, std::vector<ClockMap>{{.rate = 200e-6}});
  EXPECT_EQ(ns_of(moved->spans()[0].time.begin), 2500);
  EXPECT_EQ(ns_of(moved->spans()[1].time.begin), 2501) << "kept apart from what began before it";
  EXPECT_EQ(ns_of(moved->spans()[2].time.begin), 2501) << "a child does not begin before its parent";
}

TEST(ClockMap, TurnsBackWhatAClockDoes) {
  const ClockMap map{.pivot = at(1'000'000'500), .ahead = nanoseconds{500}, .ahead_fine_ns = 0.4, .rate = 50e-6};
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{1'000'000'000}, std::int64_t{3'600'000'000'000}}) {
    const auto since = static_cast<double>(time - 1'000'000'000);
    const std::int64_t shown = time + 500 + static_cast<std::int64_t>(0.4 + 50e-6 * since);
    EXPECT_NEAR(static_cast<double>(ns_of(map.run_time(at(shown))) - time), 0, 1.5) << time;
  }
}

TEST(ClockMap, StopsFarOutsideOfAnyClock) {
  const ClockMap map{
      .pivot = at(-(std::int64_t{1} << 61)), .ahead = nanoseconds{-(std::int64_t{1} << 61)}, .rate = 1e-4};
  EXPECT_LE(map.run_time(at(INT64_MAX)), at(std::int64_t{1} << 62));
  EXPECT_GE(map.run_time(at(INT64_MIN)), at(-(std::int64_t{1} << 62)));
}

}  // namespace
}  // namespace rankscope
