#include "alignment/parts.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

Report with_clocks(std::vector<ClockRow> clocks) {
  Report report;
  report.clocks.clocks = std::move(clocks);
  return report;
}

ClockRow row(const char* name, const char* reference) {
  ClockRow clock;
  clock.name = name;
  clock.reference = reference;
  return clock;
}

ClockRow first() {
  ClockRow clock = row("a", "a");
  clock.aligned = true;
  return clock;
}

ClockRow second_row() {
  ClockRow clock = row("b", "a");
  clock.aligned = true;
  clock.ahead_ns = 20'000;
  clock.error_ns = 900;
  return clock;
}

TEST(RenderedClocks, TakenForOneAreNotSaidToHaveBeenSet) {
  Report report = with_clocks({first(), second_row()});
  EXPECT_THAT(clock_lines(report), Contains(Field(&ClockLine::text, HasSubstr("2 clocks were aligned by the ends"))));
  report.clocks.assumed_shared = true;
  EXPECT_THAT(clock_lines(report), Not(Contains(Field(&ClockLine::text, HasSubstr("aligned by the ends")))));
  nlohmann::ordered_json json;
  add_clocks(json, report.clocks);
  EXPECT_TRUE(json["hosts"][1]["aligned_to"].is_null());
  EXPECT_TRUE(json["hosts"][1]["drift_ppm"].is_null()) << "it was not measured";
  EXPECT_EQ(json["hosts"][1]["ahead_ns"], 20'000.0);
}

TEST(RenderedClocks, LeftApartAreNotCountedAsSetAndSayWhy) {
  ClockRow apart = row("c", "c");
  apart.why_apart = "fewer than 20 operations are shared with a, directly or through other clocks";
  const Report report = with_clocks({first(), second_row(), apart});
  EXPECT_THAT(clock_lines(report), Contains(Field(&ClockLine::text, HasSubstr("2 clocks were aligned by the ends"))));
  EXPECT_THAT(clock_table(report.clocks, 10).rows[2].back().text, HasSubstr("fewer than 20 operations"));
  nlohmann::ordered_json json;
  add_clocks(json, report.clocks);
  EXPECT_EQ(json["hosts"][2]["why"], apart.why_apart);
}

TEST(RenderedClocks, OfUnknownHostsAreNotCalledClocksOfDifferentHosts) {
  Report report;
  report.clock = {"wall_clock", nanoseconds{10'000'000}};
  report.rank_facts.resize(2);
  EXPECT_EQ(clock_text(report),
            "Clocks: wall clocks, ± 10.0 ms; the hosts are not known, so times of different ranks are not compared.");
  report.rank_facts[0].host = "a";
  report.rank_facts[1].host = "b";
  EXPECT_EQ(clock_text(report), "Clocks: wall clocks, ± 10.0 ms; times of different hosts are not compared.");
}

TEST(RenderedClocks, OneMoreDoubtfulClockIsOne) {
  std::vector<ClockRow> clocks{first()};
  for (const char* name : {"b", "c", "d"}) {
    clocks.push_back(second_row());
    clocks.back().name = name;
    clocks.back().doubt = "it jumps";
  }
  EXPECT_THAT(clock_lines(with_clocks(std::move(clocks))),
              Contains(Field(&ClockLine::text, HasSubstr("1 more clock is doubtful."))));
}

}  // namespace
}  // namespace rankscope::analyzer
