#include "alignment/align.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "alignment/domains.h"
#include "alignment/edges.h"
#include "alignment/observations.h"
#include "analyzer/alignment/simulated.h"
#include "analyzer/synthetic_run.h"
#include "clocks/clock_trust.h"
#include "collectives/find.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make;
using testing::run_of;
using testing::SimulatedClock;
using testing::SimulatedRun;
using testing::worst_disagreement;

struct Aligned {
  std::shared_ptr<const Run> recorded;
  Alignment alignment;
  [[nodiscard]] const Run& run() const { return alignment.moved ? *alignment.moved : *recorded; }
  [[nodiscard]] std::int64_t error() const { return alignment.clock.error.count(); }
  [[nodiscard]] ClockTrust trust() const { return {run(), alignment.model}; }
  [[nodiscard]] Matching matching() const { return match_collectives(run(), trust()); }
  [[nodiscard]] std::uint64_t count(Counter counter) const { return alignment.quality.of(counter); }
  [[nodiscard]] const std::vector<ClockRow>& clocks() const { return alignment.section.clocks; }
};

Aligned aligned(std::shared_ptr<const Run> run) {
  Alignment alignment = align_clocks(*run);
  return {std::move(run), std::move(alignment)};
}
Aligned aligned(const SimulatedRun& plan) { return aligned(make(plan)); }

constexpr std::int64_t second = 1'000'000'000;
/// What the order of exits may hide is none here.
constexpr std::int64_t allowance = 30'000;

SimulatedRun drifting(std::int64_t operations, std::int64_t span, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::uniform_int_distribution<std::int64_t> offset{-5'000'000, 5'000'000};
  std::uniform_real_distribution<double> drift{-20, 20};
  SimulatedRun plan{.clocks = {}, .operations = operations, .span_ns = span, .seed = seed};
  plan.clocks.push_back({});
  for (int i = 0; i < 3; ++i) plan.clocks.push_back({offset(random), drift(random)});
  return plan;
}

TEST(AlignedClocks, OffsetsAndDriftsAreRecoveredWithinTheStatedError) {
  struct Case {
    std::int64_t operations;
    std::int64_t span;
    std::int64_t most_error;
  };
  for (const Case& one : {Case{21, second + second / 10, 40'000},
                          {50, 5 * second, 25'000},
                          {250, 10 * second, 12'000},
                          {1000, 600 * second, 6'000}}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      const Aligned result = aligned(drifting(one.operations, one.span, seed));
      ASSERT_EQ(result.alignment.clock.method, "unit_ends");
      EXPECT_LE(worst_disagreement(result.run()), result.error() - allowance)
          << one.operations << " units, seed " << seed;
      EXPECT_LE(result.error() - allowance, one.most_error) << one.operations << " units, seed " << seed;
      EXPECT_EQ(result.count(Counter::clock_low), 0U);
    }
  }
}

TEST(AlignedClocks, ARankThatIsAlwaysLateStaysLate) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimulatedRun plan = drifting(200, 20 * second, seed);
    plan.late = [](std::uint32_t rank, std::int64_t) { return rank == 2 ? 2'000'000 : 0; };
    const Aligned result = aligned(plan);
    const Matching matching = result.matching();
    for (const Operation& operation : matching.section->operations) {
      EXPECT_EQ(operation.last_rank, RankId{2});
      EXPECT_NEAR(static_cast<double>(operation.spread_ns), 2e6, static_cast<double>(result.error()));
      EXPECT_NEAR(static_cast<double>(operation.wait_ns), 3 * 2e6, 3 * static_cast<double>(result.error()));
    }
    EXPECT_EQ(matching.quality.of(Counter::clock_violations), 0U);
  }
}

TEST(AlignedClocks, TheFirstHostKeepsItsTimes) {
  SimulatedRun plan = drifting(100, 5 * second, 3);
  const Aligned result = aligned(plan);
  EXPECT_EQ(result.clocks()[0].ahead_ns, 0);
  EXPECT_EQ(result.clocks()[0].error_ns, 0);
  EXPECT_NEAR(result.clocks()[1].drift_ppm, plan.clocks[1].drift_ppm, 2);
  EXPECT_TRUE(result.clocks()[1].drift_known);
  for (std::size_t i = 0; i < result.recorded->collectives().size(); ++i)
    if (result.recorded->collectives()[i].rank == RankId{0}) {
      EXPECT_EQ(result.run().collectives()[i].started, result.recorded->collectives()[i].started);
    }
}

TEST(AlignedClocks, WithFewerThanTwentyOperationsTheyAreNotCompared) {
  const Aligned result = aligned(drifting(19, 10 * second, 1));
  EXPECT_EQ(result.alignment.clock.method, "wall_clock");
  EXPECT_EQ(result.alignment.moved, nullptr);
  EXPECT_THAT(result.alignment.section.notes, ::testing::Contains(HasSubstr("fewer than 20 operations")));
  EXPECT_FALSE(result.trust().comparable(result.run().ranks()));
  EXPECT_EQ(result.matching().section->groups.at(0).method, "duration") << "the form that needs no clock";
}

TEST(AlignedClocks, OfHostsWithoutSharedOperationsOnlyThoseThatHaveSomeAreCompared) {
  std::string text = "@run clock=wall_clock clock_error=10000000\n";
  for (int rank = 0; rank < 4; ++rank)
    text += "@rank " + std::to_string(rank) + " host=h" + std::to_string(rank) + "\n";
  text += "@group left 0,1\n@group right 2,3\n";
  for (int operation = 1; operation <= 40; ++operation) {
    for (int rank = 0; rank < 4; ++rank) {
      const std::int64_t begin = operation * 50'000'000LL + rank * 700'000;
      text += std::to_string(rank) + " comm " + std::to_string(begin) + " " + std::to_string(begin + 300'000) +
              " allreduce group=" + (rank < 2 ? "left" : "right") + " bytes=8 seq=" + std::to_string(operation) + "\n";
    }
  }
  const Aligned result = aligned(run_of(text));
  EXPECT_EQ(result.alignment.clock.method, "unit_ends");
  const ClockTrust trust = result.trust();
  EXPECT_TRUE(trust.comparable(std::vector{RankId{0}, RankId{1}}));
  EXPECT_TRUE(trust.comparable(std::vector{RankId{2}, RankId{3}}));
  EXPECT_FALSE(trust.comparable(std::vector{RankId{1}, RankId{2}}));
  EXPECT_EQ(result.alignment.section.clocks_apart, 2);
  EXPECT_EQ(result.count(Counter::clock_low), 2U);
  EXPECT_EQ(result.run().collectives()[80].started - result.run().collectives()[120].started, nanoseconds{0});
}

TEST(AlignedClocks, ADriftThatNoClockHasIsNotBelieved) {
  SimulatedRun plan{.clocks = {{}, {0, 500}}, .operations = 200, .span_ns = 10 * second};
  const Aligned result = aligned(plan);
  EXPECT_THAT(result.clocks()[1].doubt, HasSubstr("drift of 500 ppm"));
  EXPECT_GE(result.error(), 2'500'000) << "half of what it drifts";
  EXPECT_LE(worst_disagreement(result.run()), result.error());
  EXPECT_GE(result.count(Counter::clock_low), 1U);
}

TEST(AlignedClocks, EndsThatComeInTwoGroupsDoNotPretendToBeExact) {
  for (const int of_ten : {3, 4, 5, 6, 7}) {
    SimulatedRun plan{.clocks = {{}, {1'000'000, 5}}, .operations = 400, .span_ns = 20 * second};
    plan.exit = [of_ten](std::uint32_t rank, std::int64_t operation) {
      return rank == 1 && (operation * 7) % 10 < of_ten ? 400'000 : 0;
    };
    const Aligned result = aligned(plan);
    EXPECT_LE(worst_disagreement(result.run()), result.error()) << of_ten;
    EXPECT_FALSE(result.clocks()[1].doubt.empty()) << of_ten;
  }
}

TEST(AlignedClocks, AClockThatIsSetWhileItRunsIsDoubted) {
  for (const std::int64_t jump : {200'000, 5'000'000, 1'000'000'000}) {
    SimulatedRun plan{.clocks = {{}, {}, {300'000, 10}}, .operations = 300, .span_ns = 30 * second};
    plan.clocks[1].more = [jump](std::int64_t time) { return time > 20 * second ? jump : 0; };
    const Aligned result = aligned(plan);
    const ClockTrust trust = result.trust();
    const std::vector all{RankId{0}, RankId{1}};
    EXPECT_TRUE(jump < 1'000'000 || result.count(Counter::clock_low) >= 1) << jump;
    if (trust.comparable(all)) {
      EXPECT_GE(trust.error_ns(all), 50'000) << jump;
      EXPECT_LE(worst_disagreement(result.run()), result.error()) << jump;
    }
    EXPECT_TRUE(trust.comparable(std::vector{RankId{0}, RankId{2}})) << "the other clock is good";
    EXPECT_EQ(result.clocks()[2].doubt, "") << jump;
    EXPECT_LE(result.count(Counter::clock_low), 1U) << "each clock counts once";
    EXPECT_LT(trust.error_ns(std::vector{RankId{0}, RankId{2}}), 50'000) << jump;
  }
}

TEST(AlignedClocks, WhatAClockOfMillisecondsCannotTellIsTakenFromDurations) {
  SimulatedRun plan{.clocks = {{}, {}}, .operations = 300, .span_ns = 30 * second, .exit_noise_ns = 500};
  plan.on_device = true;
  plan.clocks[1].more = [](std::int64_t time) { return time > 20 * second ? 5'000'000 : 0; };
  const Aligned result = aligned(plan);
  ASSERT_TRUE(result.trust().comparable(result.run().ranks()));
  const Matching matching = result.matching();
  for (const Operation& operation : matching.section->operations) {
    EXPECT_LT(operation.wait_ns, 10'000) << "nobody is late";
    EXPECT_NEAR(static_cast<double>(operation.transfer_ns), 300'000, 10'000);
    EXPECT_FALSE(operation.last_rank.is_set());
  }
  EXPECT_EQ(matching.section->groups.at(0).method, "duration");
}

TEST(AlignedClocks, WaitsFarAboveTheErrorAreToldByStarts) {
  SimulatedRun plan = drifting(200, 20 * second, 1);
  plan.late = [](std::uint32_t rank, std::int64_t operation) {
    return rank == 2 && operation % 2 == 0 ? 2'000'000 : 0;
  };
  const Aligned result = aligned(plan);
  EXPECT_EQ(result.matching().section->groups.at(0).method, "run time and duration");
}

TEST(AlignedClocks, AreRefusedWhereErrorsAddUpToTenMilliseconds) {
  constexpr int hosts = 5;
  std::string text = "@run clock=wall_clock\n";
  for (int rank = 0; rank < hosts; ++rank) text += format("@rank {} host=h{}\n", rank, rank);
  for (int rank = 0; rank + 1 < hosts; ++rank) text += format("@group g{} {},{}\n", rank, rank, rank + 1);
  for (int operation = 1; operation <= 100; ++operation) {
    for (int rank = 0; rank + 1 < hosts; ++rank) {
      for (const int member : {rank, rank + 1}) {
        // Each clock jumps by 2 ms against the one before, half-way.
        const std::int64_t begin =
            operation * 20'000'000LL + rank * 1'000'000 + (operation > 50 ? member * 2'000'000LL : 0);
        text += format("{} comm {} {} allreduce group=g{} seq={} bytes=1\n", member, begin, begin + 200'000, rank,
                       operation);
      }
    }
  }
  const Aligned result = aligned(run_of(text));
  EXPECT_EQ(result.clocks()[1].why_apart, "") << "one jump is within 10 ms";
  EXPECT_EQ(result.clocks()[4].why_apart, "no alignment with h0 to within 10 ms was found");
  EXPECT_FALSE(result.trust().comparable(std::vector{RankId{0}, RankId{4}}));
  EXPECT_LT(result.error(), 20'000'000 + allowance);
}

TEST(AlignedClocks, OneRankHasNothingToBeAlignedWith) {
  const Aligned result = aligned(SimulatedRun{.clocks = {{}}});
  EXPECT_EQ(result.alignment.moved, nullptr);
  EXPECT_TRUE(result.alignment.model.of_rank.empty());
}

TEST(AlignedClocks, RanksOfOneHostShareItsClock) {
  SimulatedRun plan{.clocks = {{}, {}, {7'000'000, 30}, {7'000'000, 30}}, .operations = 300};
  std::string text = testing::text_of(plan);
  for (const auto& [from, to] : {std::pair{"host=h1", "host=h0"}, {"host=h3", "host=h2"}})
    text.replace(text.find(from), 7, to);
  const Aligned result = aligned(run_of(text));
  ASSERT_EQ(result.clocks().size(), 2U);
  EXPECT_EQ(result.clocks()[1].ranks, (std::vector{RankId{2}, RankId{3}}));
  EXPECT_EQ(result.trust().error_ns(std::vector{RankId{2}, RankId{3}}), 1'000);
  EXPECT_LE(worst_disagreement(result.run()), result.error());
  EXPECT_EQ(result.count(Counter::clock_split_host), 0U);
}

TEST(AlignedClocks, UnknownHostsWhoseEndsAgreeAreTakenForOneClock) {
  SimulatedRun plan{.clocks = {{}, {20'000, 0}, {-10'000, 0}}, .operations = 100, .hosts_known = false};
  const Aligned result = aligned(plan);
  EXPECT_EQ(result.alignment.clock.method, "assumed_shared");
  EXPECT_EQ(result.alignment.moved, nullptr) << "nothing is moved";
  EXPECT_THAT(result.alignment.section.notes, ::testing::Contains(HasSubstr("assumed")));
  EXPECT_GE(result.error(), 30'000);
  EXPECT_TRUE(result.trust().comparable(result.run().ranks()));
}

TEST(AlignedClocks, UnknownHostsThatOnlyMeetInTheMiddleAreNotOneClock) {
  SimulatedRun plan{.clocks = {{}, {-200'000, 40}}, .operations = 100, .hosts_known = false};
  const Aligned result = aligned(plan);
  EXPECT_EQ(result.alignment.clock.method, "unit_ends");
  EXPECT_LE(worst_disagreement(result.run()), result.error());
}

TEST(AlignedClocks, OfManyTakenForOneTheErrorIsThatOfTheTwoFarthestApart) {
  SimulatedRun plan{.clocks = std::vector<SimulatedClock>(12), .operations = 100, .hosts_known = false};
  plan.clocks[1].offset_ns = 45'000;
  plan.clocks[2].offset_ns = -45'000;
  const Aligned result = aligned(plan);
  ASSERT_EQ(result.alignment.clock.method, "assumed_shared");
  EXPECT_GE(result.error(), worst_disagreement(result.run()));
  EXPECT_LT(result.error(), 110'000);
}

TEST(AlignedClocks, TakenForOneTellWhatWasMeasuredAndThatNothingWasMoved) {
  SimulatedRun plan{.clocks = {{}, {20'000, 0}}, .operations = 100, .hosts_known = false};
  const Aligned result = aligned(plan);
  EXPECT_TRUE(result.alignment.section.assumed_shared);
  EXPECT_NEAR(result.clocks()[1].ahead_ns, 20'000, 3'000);
  EXPECT_GT(result.clocks()[1].error_ns, 0);
  plan.head = "@run source=kineto clock=none\n";
  plan.hosts_known = true;
  EXPECT_THAT(aligned(plan).alignment.section.notes,
              ::testing::Contains(HasSubstr("The files do not say when their clocks started")));
}

TEST(AlignedClocks, RanksOfOneFileShareItsClockWhateverZeroItHas) {
  SimulatedRun plan{.clocks = {{}, {}, {7'000'000, 30}, {7'000'000, 30}}, .operations = 300};
  plan.head = "@run source=nsys clock=none\n";
  std::string text = testing::text_of(plan);
  for (const auto& [from, to] : {std::pair{"host=h0", "host=h meta.nsys.file=a"},
                                 {"host=h1", "host=h meta.nsys.file=a"},
                                 {"host=h2", "host=h meta.nsys.file=b"},
                                 {"host=h3", "host=h meta.nsys.file=b"}})
    text.replace(text.find(from), 7, to);
  const Aligned result = aligned(run_of(text));
  ASSERT_EQ(result.clocks().size(), 2U);
  EXPECT_EQ(result.clocks()[1].name, "b");
  EXPECT_EQ(result.clocks()[1].ranks, (std::vector{RankId{2}, RankId{3}}));
  EXPECT_LE(worst_disagreement(result.run()), result.error());
}

TEST(AlignedClocks, OfFilesThatCountFromTheirOwnBeginNoHostMakesOneClock) {
  SimulatedRun plan{.clocks = {{}, {}}, .operations = 5, .head = "@run source=kineto clock=none\n"};
  std::string text = testing::text_of(plan);
  text.replace(text.find("host=h1"), 7, "host=h0");
  const auto run = run_of(text);
  EXPECT_FALSE(ClockTrust{*run}.comparable(run->ranks()));
}

TEST(AlignedClocks, UnknownHostsWhoseEndsDoNotAgreeAreAligned) {
  SimulatedRun plan{.clocks = {{}, {800'000, 0}}, .operations = 100, .hosts_known = false};
  const Aligned result = aligned(plan);
  EXPECT_EQ(result.alignment.clock.method, "unit_ends");
  EXPECT_EQ(result.clocks()[1].name, "rank 1");
  EXPECT_NEAR(result.clocks()[1].ahead_ns, 800'000, 5'000);
}

TEST(AlignedClocks, DeviceTimesOfOneHostThatLieApartAreTakenApart) {
  SimulatedRun plan{
      .clocks = {{}, {200'000, 0}}, .operations = 100, .head = "@run source=kineto clock=same_host clock_error=1000\n"};
  std::string text = testing::text_of(plan);
  text.replace(text.find("host=h1"), 7, "host=h0");
  EXPECT_EQ(aligned(run_of(text)).alignment.moved, nullptr) << "times of a host share its clock";
  std::string on_device = text;
  const std::string lanes = "@lane 0 s kind=stream device=0\n";
  const std::string other = "@lane 1 s kind=stream device=0\n";
  on_device.insert(on_device.find("@rank 1"), lanes);
  on_device.insert(on_device.find("@group"), other);
  for (std::size_t at = 0; (at = on_device.find(" allreduce ", at)) != std::string::npos; at += 20)
    on_device.insert(at + 11, "lane=s ");
  const Aligned result = aligned(run_of(on_device));
  EXPECT_EQ(result.count(Counter::clock_split_host), 2U);
  EXPECT_NE(result.alignment.moved, nullptr);
  std::map<std::int64_t, std::vector<std::int64_t>> ends;
  for (const Collective& part : result.run().collectives()) ends[part.sequence].push_back(ns_of(part.finished));
  for (const auto& [sequence, of_operation] : ends)
    EXPECT_LT(std::abs(of_operation[0] - of_operation[1]), 20'000) << sequence;
  EXPECT_TRUE(result.trust().comparable(result.run().ranks()));
  on_device.replace(on_device.find("source=kineto"), 13, "source=rankscope");
  const Aligned own = aligned(run_of(on_device));
  EXPECT_EQ(own.count(Counter::clock_split_host), 0U) << "ranks that share a GPU leave an operation a time slice apart";
  EXPECT_EQ(own.alignment.moved, nullptr);
}

TEST(AlignedClocks, EveryOperationEndsAfterAllHaveStarted) {
  SimulatedRun plan{.clocks = {{}, {3'000'000, 0}}, .operations = 100, .exit_noise_ns = 1000};
  const Aligned result = aligned(plan);
  EXPECT_EQ(result.matching().quality.of(Counter::clock_violations), 0U);
}

TEST(AlignedClocks, TimesThatNoClockShowsDoNoHarm) {
  for (const std::int64_t wild : {INT64_MAX, INT64_MIN + 1, std::int64_t{1} << 61, -(std::int64_t{1} << 60)}) {
    SimulatedRun plan{.clocks = {{}, {5'000, 0}, {}}, .operations = 40};
    std::string text = testing::text_of(plan);
    for (int operation = 100; operation < 140; ++operation)
      for (int rank = 0; rank < 3; ++rank)
        text += format("{} comm {} {} allreduce group=dp seq={} bytes=1000\n", rank, wild, wild, operation);
    const Aligned result = aligned(run_of(text));
    ASSERT_EQ(result.clocks().size(), 3U);
    // Over centuries no drift is known well enough.
    EXPECT_EQ(result.alignment.moved, nullptr) << wild;
    EXPECT_THAT(result.clocks()[1].why_apart, HasSubstr("to within 10 ms")) << wild;
    EXPECT_FALSE(result.trust().comparable(result.run().ranks())) << wild;
  }
  std::string text = "@run clock=wall_clock\n@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n";
  for (int operation = 1; operation < 60; ++operation)
    text +=
        format("0 comm {0} {0} allreduce group=dp seq={1} bytes=1\n1 comm {2} {2} allreduce group=dp seq={1} bytes=1\n",
               -(std::int64_t{1} << 59) + operation, operation, (std::int64_t{1} << 59) - operation * operation);
  const Aligned result = aligned(run_of(text));
  EXPECT_FALSE(result.run().collectives().empty());
}

TEST(AlignedClocks, WithoutSequenceNumbersNoClockIsSet) {
  SimulatedRun plan{.clocks = {{}, {900'000, 0}}, .operations = 100};
  std::string text = testing::text_of(plan);
  for (std::size_t at = 0; (at = text.find(" seq=", at)) != std::string::npos; at += 7)
    text.replace(at, text.find(' ', at + 1) - at, " seq=-1");
  const Aligned result = aligned(run_of(text));
  EXPECT_EQ(result.alignment.clock.method, "wall_clock");
  EXPECT_FALSE(result.trust().comparable(result.run().ranks()));
}

TEST(AlignedClocks, AGroupWithoutSequenceNumbersDoesNotStopTheOthers) {
  SimulatedRun plan{.clocks = {{}, {900'000, 0}}, .operations = 100};
  std::string text = testing::text_of(plan);
  text.insert(text.find("@group"), "@group other 0,1\n");
  text +=
      "0 comm 1000 2000 allreduce group=other seq=-1 bytes=8\n1 comm 901000 902000 allreduce group=other seq=-1 "
      "bytes=8\n";
  const Aligned result = aligned(run_of(text));
  EXPECT_EQ(result.alignment.clock.method, "unit_ends");
  EXPECT_NEAR(result.clocks()[1].ahead_ns, 900'000, 5'000);
}

TEST(AlignedClocks, LeftApartSayWhyInTheirOwnWords) {
  SimulatedRun plan{.clocks = {{}, {900'000, 0}}, .operations = 100};
  std::string text = testing::text_of(plan);
  for (std::size_t at = 0; (at = text.find(" seq=", at)) != std::string::npos; at += 7)
    text.replace(at, text.find(' ', at + 1) - at, " seq=-1");
  EXPECT_THAT(aligned(run_of(text)).clocks()[1].why_apart, HasSubstr("no sequence numbers"));
  EXPECT_THAT(aligned(drifting(19, 10 * second, 1)).clocks()[1].why_apart, HasSubstr("fewer than 20 operations"));
  SimulatedRun jumping{.clocks = {{}, {}}, .operations = 300, .span_ns = 30 * second};
  jumping.clocks[1].more = [](std::int64_t time) { return time > 20 * second ? second : 0; };
  const Aligned apart = aligned(jumping);
  EXPECT_THAT(apart.clocks()[1].why_apart, HasSubstr("to within 10 ms"));
  EXPECT_EQ(apart.count(Counter::clock_low), 1U);
}

TEST(AlignedClocks, AChainOfHostsAddsUpItsErrors) {
  constexpr int hosts = 12;
  std::mt19937_64 random{1};
  std::normal_distribution<double> noise{0, 3000};
  std::string text = "@run clock=wall_clock\n";
  for (int rank = 0; rank < hosts; ++rank) text += format("@rank {} host=h{}\n", rank, rank);
  for (int rank = 0; rank + 1 < hosts; ++rank) text += format("@group g{} {},{}\n", rank, rank, rank + 1);
  for (int operation = 1; operation <= 100; ++operation) {
    for (int rank = 0; rank + 1 < hosts; ++rank) {
      for (const int member : {rank, rank + 1}) {
        const std::int64_t begin = operation * 20'000'000LL + rank * 1'000'000 + member * 250'000'000LL;
        text += format("{} comm {} {} allreduce group=g{} seq={} bytes=1\n", member, begin,
                       begin + 200'000 + static_cast<std::int64_t>(noise(random)), rank, operation);
      }
    }
  }
  const Aligned result = aligned(run_of(text));
  for (std::size_t i = 1; i < hosts; ++i) {
    const ClockRow& clock = result.clocks()[i];
    EXPECT_NEAR(clock.ahead_ns, static_cast<double>(i) * 250e6, static_cast<double>(clock.error_ns)) << i;
    EXPECT_GT(clock.error_ns, result.clocks()[i - 1].error_ns);
  }
}

TEST(AlignedClocks, AThousandHostsDoNotMakeAMillionPairs) {
  SimulatedRun plan{.clocks = {}, .operations = 60, .span_ns = 3 * second};
  std::mt19937_64 random{5};
  std::uniform_int_distribution<std::int64_t> offset{-5'000'000, 5'000'000};
  for (int i = 0; i < 1024; ++i) plan.clocks.push_back({i == 0 ? 0 : offset(random), 0});
  const auto run = make(plan);
  EXPECT_EQ(clocks::edges_between(clocks::observe(*run), clocks::domains_of(*run)).size(), 1023U);
  const Aligned result = aligned(run);
  EXPECT_LE(worst_disagreement(result.run()), result.error());
  std::size_t points = 0;
  for (const ClockRow& clock : result.clocks()) points += clock.residuals.size();
  EXPECT_LE(points, 10'000U);
}

TEST(AlignedClocks, WhatIsLeftOfTheEndsIsShown) {
  const Aligned result = aligned(drifting(1000, 60 * second, 2));
  ASSERT_GT(result.clocks().size(), 1U);
  for (const ClockRow& clock : result.clocks()) {
    ASSERT_EQ(clock.residuals.size(), 200U);
    EXPECT_TRUE(std::ranges::is_sorted(clock.residuals, {}, &ClockResidual::at_ns));
    for (const ClockResidual& point : clock.residuals) EXPECT_LT(std::abs(point.late_ns), 25'000);
  }
}

}  // namespace
}  // namespace rankscope::analyzer
