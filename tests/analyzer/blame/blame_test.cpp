#include "blame/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"
#include "split/rank_rows.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

struct Blamed {
  std::shared_ptr<const Run> run;
  std::vector<RankRow> rank_rows;
  Section<BlameSection> section = unavailable("");

  [[nodiscard]] const BlameRow& of(std::uint32_t rank) const {
    return *std::ranges::find(section->rows, RankId{rank}, &BlameRow::rank);
  }
  [[nodiscard]] bool lists(std::uint32_t rank) const {
    return std::ranges::find(section->rows, RankId{rank}, &BlameRow::rank) != section->rows.end();
  }
};

Blamed blame(const std::shared_ptr<const Run>& run, const ReportOptions& options = {}) {
  const ClockTrust clocks{*run};
  const Matching matching = match_collectives(*run, clocks);
  const auto steps = find_steps(*run, clocks, options).section;
  auto rows = split_ranks(*run, steps, matching, options);
  Blamed blamed{run, {}, find_blame(*run, clocks, steps, rows, matching, options).section};
  if (rows) blamed.rank_rows = std::move(*rows);
  return blamed;
}

Blamed blame(std::string_view text, const ReportOptions& options = {}) { return blame(run_of(text), options); }

std::int64_t sum_of(const DelayParts& parts) { return std::accumulate(parts.begin(), parts.end(), std::int64_t{0}); }

void expect_exact(const Blamed& blamed) {
  ASSERT_TRUE(blamed.section) << blamed.section.error().why;
  const BlameSection& section = *blamed.section;
  std::int64_t exposed = 0;
  for (const RankRow& row : blamed.rank_rows) exposed += row.total.exposed_wait_ns;
  EXPECT_EQ(section.total_ns + section.partial_ns, exposed) << "all exposed waiting is in it";
  std::int64_t charged = section.unknown_ns;
  std::int64_t waited = 0;
  for (const BlameRow& row : section.rows) {
    EXPECT_EQ(row.cost_ns(), sum_of(row.direct_ns) + sum_of(row.inherited_ns));
    charged += row.cost_ns();
    waited += row.waited_ns;
    for (std::size_t i = 0; i < delay_part_count; ++i) EXPECT_GE(row.of(static_cast<DelayPart>(i)), 0);
  }
  EXPECT_EQ(charged, section.total_ns);
  EXPECT_EQ(waited, section.total_ns);
  std::int64_t pairs = section.pairs_unknown_ns;
  for (const WaitingPair& pair : section.pairs) pairs += pair.ns;
  EXPECT_EQ(pairs, section.total_ns);
  std::int64_t groups = 0;
  for (const BlameGroup& group : section.groups) groups += group.ns;
  EXPECT_EQ(groups, section.total_ns);
}

// Rank 1 computes 60 us longer than rank 0 before their allreduce.
constexpr std::string_view two_ranks =
    "@run clock=same_host\n@group dp 0,1\n"
    "0 step 0 200000 step index=0\n0 compute 0 40000 gemm\n0 comm 40000 110000 allreduce group=dp seq=1\n"
    "1 step 0 200000 step index=0\n1 compute 0 100000 gemm\n1 comm 100000 110000 allreduce group=dp seq=1\n";

TEST(Blame, TheLateRankOwnsTheWaitOfTheOther) {
  const Blamed blamed = blame(two_ranks);
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->total_ns, 60'000);
  EXPECT_EQ(blamed.of(1).of(DelayPart::compute), 60'000);
  EXPECT_EQ(blamed.of(1).direct(), 60'000);
  EXPECT_EQ(blamed.of(1).marginal_ns, 60'000);
  EXPECT_EQ(blamed.of(0).waited_ns, 60'000);
  EXPECT_EQ(blamed.of(0).cost_ns(), 0);
  ASSERT_EQ(blamed.section->pairs.size(), 1U);
  EXPECT_EQ(blamed.section->pairs[0].waiting, RankId{0});
  EXPECT_EQ(blamed.section->pairs[0].last_to_arrive, RankId{1});
}

// Rank 0 computes 90 us longer in group a; rank 1 waits there and so comes late to group b; rank 2 waits for rank 1,
// and so comes late to group c, where rank 3 waits.
constexpr std::string_view chain =
    "@run clock=same_host\n@group a 0,1\n@group b 1,2\n@group c 2,3\n@group all 0,1,2,3\n"
    "0 comm 0 10000 barrier group=all\n1 comm 0 10000 barrier group=all\n"
    "2 comm 0 10000 barrier group=all\n3 comm 0 10000 barrier group=all\n"
    "0 compute 10000 110000 gemm\n0 comm 110000 120000 allreduce group=a\n"
    "1 compute 10000 20000 gemm\n1 comm 20000 120000 allreduce group=a\n1 comm 120000 130000 allreduce group=b\n"
    "2 compute 10000 30000 gemm\n2 comm 30000 130000 allreduce group=b\n2 comm 130000 140000 allreduce group=c\n"
    "3 compute 10000 40000 gemm\n3 comm 40000 140000 allreduce group=c\n";

TEST(Blame, ADelayIsChargedToTheRankWhereItBegan) {
  const Blamed blamed = blame(chain);
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->total_ns, 270'000);
  EXPECT_EQ(blamed.section->pairs.size(), 3U) << "who stood where: 1 for 0, 2 for 1, 3 for 2";
  const BlameRow& first = blamed.of(0);
  EXPECT_EQ(first.direct_ns[0], 90'000);
  EXPECT_GT(first.inherited_ns[0], 150'000) << "what ranks 2 and 3 waited, but for what transfers added";
  EXPECT_EQ(first.largest_part(), DelayPart::compute);
  EXPECT_EQ(first.cost_ns() + blamed.of(1).cost_ns() + blamed.of(2).cost_ns(), 270'000);
  EXPECT_EQ(blamed.of(1).of(DelayPart::compute), 0);
  EXPECT_EQ(blamed.of(2).of(DelayPart::compute), 0);
  EXPECT_EQ(blamed.of(1).of(DelayPart::network), blamed.of(1).cost_ns()) << "its own transfer in group a";
}

TEST(Blame, EachKindOfDelayHasItsPart) {
  const auto part = [](std::string_view delay) {
    const Blamed blamed =
        blame(format("@run clock=same_host\n@group dp 0,1\n"
                     "0 op 0 40000 gemm\n0 comm 40000 110000 allreduce group=dp seq=1\n"
                     "1 op 0 40000 gemm\n1 {}\n1 comm 100000 110000 allreduce group=dp seq=1\n",
                     delay));
    expect_exact(blamed);
    return blamed.of(1).largest_part();
  };
  EXPECT_EQ(part("op 40000 100000 gemm"), DelayPart::compute);
  EXPECT_EQ(part("data 40000 100000 data"), DelayPart::data);
  EXPECT_EQ(part("memory 40000 100000 copy lane=main"), DelayPart::memory);
  EXPECT_EQ(part("sync 40000 100000 item"), DelayPart::host);
  EXPECT_EQ(part("user 40000 100000 nothing"), DelayPart::host);
  EXPECT_EQ(part("comm 40000 100000 allreduce group=-"), DelayPart::unmatched);
}

TEST(Blame, WhatComputationHidesCostsNothing) {
  const Blamed blamed = blame(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 compute 0 110000 gemm\n0 comm 40000 110000 allreduce group=dp seq=1\n"
      "1 compute 0 100000 gemm\n1 comm 100000 110000 allreduce group=dp seq=1\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->total_ns, 0);
  EXPECT_TRUE(blamed.section->rows.empty());
}

TEST(Blame, ADifferenceBelowWhatClocksAndDurationsCanTellNamesNobody) {
  const Blamed blamed = blame(
      "@run clock=unit_ends clock_error=40000\n@group dp 0,1\n"
      "0 compute 0 80000 gemm\n0 comm 80000 110000 allreduce group=dp\n"
      "1 compute 0 100000 gemm\n1 comm 100000 110000 allreduce group=dp\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->unknown_ns, 20'000);
  EXPECT_TRUE(blamed.section->pairs.empty());
}

TEST(Blame, ADifferenceBelowTheClockErrorIsToldByDurations) {
  const Blamed blamed = blame(
      "@run clock=unit_ends clock_error=40000\n@group dp 0,1\n"
      "0 compute 0 40000 gemm\n0 comm 40000 110000 allreduce group=dp\n"
      "1 compute 0 100000 gemm\n1 comm 100000 110000 allreduce group=dp\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->method, "duration");
  EXPECT_EQ(blamed.of(1).cost_ns(), 60'000);
}

TEST(Blame, WithoutACommonClockTheShortestMemberIsLastToArrive) {
  const Blamed blamed = blame(
      "@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n"
      "0 compute 0 40000 gemm\n0 comm 40000 110000 allreduce group=dp\n"
      "1 compute 9000000 9100000 gemm\n1 comm 9100000 9110000 allreduce group=dp\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->method, "duration");
  EXPECT_EQ(blamed.of(1).cost_ns(), 60'000);
}

TEST(Blame, AbsentRanksMayHaveBeenLaterSoTheirOperationsStandApart) {
  const Blamed blamed = blame(
      "@run clock=same_host world_size=3\n@group dp 0,1,2\n"
      "0 comm 40000 110000 allreduce group=dp\n1 comm 100000 110000 allreduce group=dp\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->total_ns, 0);
  EXPECT_EQ(blamed.section->partial_ns, 60'000);
}

TEST(Blame, AReceiverWaitsForItsSender) {
  const Blamed blamed = blame(
      "@run clock=same_host\n@group pp 0,1\n"
      "0 compute 0 100000 gemm\n0 comm 100000 110000 send group=pp peer=1\n"
      "1 comm 20000 110000 recv group=pp peer=0\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.of(0).of(DelayPart::compute), 80'000);
  EXPECT_EQ(blamed.section->groups.at(0).op, "sendrecv");
  EXPECT_EQ(blamed.section->groups.at(0).most_waited_for, RankId{0});
}

TEST(Blame, ASendThatEndsBeforeItsReceiverComesDoesNotHideWhyTheReceiverIsLate) {
  const Blamed blamed = blame(
      "@run clock=same_host\n@group pp 0,1\n"
      "0 comm 0 10000 send group=pp peer=1\n0 comm 10000 510000 recv group=pp peer=1\n"
      "1 compute 0 400000 gemm\n1 comm 400000 405000 recv group=pp peer=0\n"
      "1 compute 405000 505000 gemm\n1 comm 505000 510000 send group=pp peer=0\n");
  expect_exact(blamed);
  EXPECT_GE(blamed.of(1).of(DelayPart::compute), 490'000);
  EXPECT_LT(blamed.of(1).of(DelayPart::network), 5'000) << "its own transfer at most";
}

TEST(Blame, ABroadcastIsLastToArriveFromItsRoot) {
  const Blamed blamed = blame(
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 compute 0 60000 gemm\n0 comm 60000 110000 broadcast group=dp peer=0\n"
      "1 comm 20000 110000 broadcast group=dp peer=0\n"
      "2 compute 0 90000 gemm\n2 comm 90000 110000 broadcast group=dp peer=0\n");
  expect_exact(blamed);
  EXPECT_EQ(blamed.of(0).of(DelayPart::compute), 40'000);
  EXPECT_FALSE(blamed.lists(2)) << "nobody waits for a late receiver";
}

TEST(Blame, OnlyWhatTheRanksAskedForWaitedIsCharged) {
  ReportOptions options;
  options.ranks = {RankId{1}};
  const Blamed blamed = blame(chain, options);
  ASSERT_TRUE(blamed.section);
  EXPECT_EQ(blamed.section->total_ns, 90'000);
  EXPECT_EQ(blamed.of(0).cost_ns(), 90'000) << "whoever caused it, shown or not";
}

TEST(Blame, OneRankCannotMakeAnotherWait) {
  EXPECT_FALSE(blame("0 compute 0 10 gemm\n").section);
  EXPECT_FALSE(blame("0 compute 0 10 gemm\n1 compute 0 10 gemm\n").section) << "no collectives";
}

TEST(Blame, ASlowRankOwnsTheWaitingOfASyntheticRun) {
  const Blamed blamed = blame(testing::make({.fault = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) {
    if (rank == 2) plan.backward *= 1.5;
  }}));
  expect_exact(blamed);
  EXPECT_EQ(blamed.section->rows.front().rank, RankId{2});
  EXPECT_GT(blamed.of(2).of(DelayPart::compute), blamed.section->total_ns * 9 / 10);
}

/// Operations of random groups, kinds and times, on two lanes of each rank, between random compute.
std::string random_run(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto upto = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  };
  constexpr std::array<std::string_view, 5> ops{"allreduce", "broadcast", "reduce", "barrier", "alltoall"};
  std::string text = seed % 3 == 0   ? "@run clock=same_host\n"
                     : seed % 3 == 1 ? ""
                                     : "@run clock=unit_ends clock_error=300\n";
  for (int rank = 0; rank < 4; ++rank) text += format("@rank {} host=h{}\n", rank, seed % 3 == 1 ? rank / 2 : 0);
  text += "@group a 0,1\n@group b 1,2\n@group c 2,3\n@group d 0,1,2,3\n@group e 0,3,4\n";
  const std::array<std::vector<int>, 5> members{{{0, 1}, {1, 2}, {2, 3}, {0, 1, 2, 3}, {0, 3}}};
  std::array<std::int64_t, 4> now{};
  for (int operation = 0; operation < 60; ++operation) {
    const auto group = static_cast<std::size_t>(upto(4));
    const std::string_view op = ops[static_cast<std::size_t>(upto(4))];
    std::int64_t last = 0;
    for (const int rank : members[group]) {
      auto& time = now[static_cast<std::size_t>(rank)];
      const std::int64_t computes = upto(operation % 7 == 0 ? 100'000 : 4'000);
      text += format("{} compute {} {} gemm\n", rank, time + upto(500), time + 500 + computes);
      time += upto(500 + computes);
      last = std::max(last, time);
    }
    for (const int rank : members[group]) {
      auto& time = now[static_cast<std::size_t>(rank)];
      const std::int64_t end = std::max(time, last + upto(2'000) - 200);
      text += format("{} comm {} {} {} group={} peer={} lane=comm{}\n", rank, time, end, op,
                     static_cast<char>('a' + group), members[group].front(), operation % 2);
      if (operation % 5 != 0) time = end;
    }
    if (operation % 12 == 11)
      for (int rank = 0; rank < 4; ++rank)
        text += format("{} step {} {} step index={}\n", rank, operation * 5'000, operation * 5'000 + 60'000,
                       operation / 12);
  }
  return text;
}

TEST(Blame, AddsUpOnRandomRuns) {
  std::int64_t charged = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Blamed blamed = blame(random_run(seed));
    expect_exact(blamed);
    for (const BlameRow& row : blamed.section->rows) charged += sum_of(row.inherited_ns);
  }
  EXPECT_GT(charged, 0) << "some waits were inherited";
}

TEST(Blame, AThousandRanksAreNoTrouble) {
  std::string text = "@run clock=same_host\n@group all 0";
  for (int rank = 1; rank < 1024; ++rank) text += format(",{}", rank);
  text += '\n';
  for (int operation = 0; operation < 20; ++operation)
    for (int rank = 0; rank < 1024; ++rank)
      text += format("{} comm {} {} allreduce group=all\n", rank,
                     operation * 100'000 + (rank * 37 + operation * 411) % 50'000, operation * 100'000 + 60'000);
  const Blamed blamed = blame(text);
  expect_exact(blamed);
}

}  // namespace
}  // namespace rankscope::analyzer
