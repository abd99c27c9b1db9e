#include "collectives/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "collectives/comm_ops.h"
#include "collectives/parts.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using testing::run_of;

struct Matched {
  std::shared_ptr<const Run> run;
  Matching matching;
  [[nodiscard]] const CollectivesSection& section() const { return *matching.section; }
};

Matched match(std::string_view text) {
  Matched matched{run_of(text), {}};
  matched.matching = match_collectives(*matched.run, ClockTrust(*matched.run));
  EXPECT_TRUE(matched.matching.section);
  return matched;
}

constexpr std::string_view three_ranks =
    "@run clock=same_host\n"
    "@group dp 0,1,2\n"
    "0 comm 0 100000 allreduce group=dp seq=5 bytes=3000\n"
    "1 comm 40000 101000 allreduce group=dp seq=5 bytes=3000\n"
    "2 comm 90000 102000 allreduce group=dp seq=5 bytes=3000\n";

TEST(Collectives, WhatFoundNoPartnersHasNoKnownWaitOrTransfer) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 100000 allreduce group=dp seq=5 bytes=3000\n1 comm 0 100000 allreduce group=dp seq=6 bytes=3000\n");
  ASSERT_EQ(matched.section().groups.size(), 1U);
  const GroupRow& row = matched.section().groups[0];
  EXPECT_EQ(row.without_wait, row.count);
  EXPECT_EQ(row.without_transfer, row.count);
  EXPECT_EQ(row.why_no_wait, "the operation is missing on at least one rank of the group");
  EXPECT_EQ(row.why_no_transfer, "the operation is missing on at least one rank of the group");
  EXPECT_EQ(match(three_ranks).section().groups[0].without_wait, 0);
}

TEST(Collectives, EveryUnknownWaitHasItsOwnReason) {
  const auto row_of = [](std::string_view head, std::string_view rank_0, std::string_view rank_1) {
    return match(std::string{head} + "@group dp 0,1\n0 comm 0 100000 " + std::string{rank_0} +
                 " group=dp\n1 comm 5 100000 " + std::string{rank_1} + " group=dp\n")
        .section()
        .groups.at(0);
  };
  const GroupRow no_root = row_of("@run clock=same_host\n", "broadcast", "broadcast");
  EXPECT_EQ(no_root.why_no_wait, "the root was not recorded");
  EXPECT_EQ(no_root.why_no_transfer, "");
  EXPECT_EQ(no_root.without_transfer, 0);
  const GroupRow unknown = row_of("@run clock=same_host\n", "strange", "strange");
  EXPECT_EQ(unknown.why_no_wait, "rankscope does not know which ranks wait for which in operations of this kind");
  const GroupRow no_clock = row_of("@rank 0 host=a\n@rank 1 host=b\n", "broadcast peer=0", "broadcast peer=0");
  EXPECT_EQ(no_clock.why_no_wait, "the clocks of the ranks cannot be compared");
  EXPECT_EQ(no_clock.why_no_transfer, no_clock.why_no_wait);
}

TEST(Collectives, WhatClocksCannotShowIsNullAndNotZero) {
  const Matched matched = match(
      "@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n"
      "0 comm 0 100000 broadcast peer=0 group=dp\n1 comm 5 100000 broadcast peer=0 group=dp\n");
  ReportOptions options;
  options.instances = true;
  const auto instance = collectives_json(matched.section(), *matched.run, options).at("instances").at(0);
  for (const char* const name : {"spread_ns", "transfer_ns", "last_rank"}) {
    EXPECT_TRUE(instance.at(name).is_null()) << name;
    EXPECT_EQ(instance.at("why").at(name), "the clocks of the ranks cannot be compared");
  }
}

TEST(Collectives, MembersAreMatchedByGroupAndSequence) {
  const Matched matched = match(three_ranks);
  ASSERT_EQ(matched.section().operations.size(), 1U);
  const Operation& operation = matched.section().operations[0];
  EXPECT_TRUE(operation.complete);
  EXPECT_EQ(operation.first_rank, RankId{0});
  EXPECT_EQ(operation.last_rank, RankId{2});
  EXPECT_EQ(operation.spread_ns, 90'000);
  EXPECT_EQ(operation.transfer_ns, 11'000) << "median end minus last start";
  EXPECT_EQ(operation.wait_ns, 90'000 + 50'000);
  EXPECT_EQ(matched.section().matched, 3);
  EXPECT_EQ(matched.section().unmatched, 0);
}

TEST(Collectives, TheReportSaysHowManyWereMatchedAndByWhat) {
  const auto matching = [](std::string_view text) {
    const Matched matched = match(text);
    return collectives_json(matched.section(), *matched.run, {}).at("matching");
  };
  EXPECT_EQ(matching(three_ranks), (nlohmann::ordered_json{{"by", "sequence"}, {"share", 1.0}}));
  const std::string in_order =
      "@run clock=same_host\n@group dp 0,1\n0 comm 0 10 allreduce group=dp seq=-1\n1 comm 0 10 allreduce group=dp "
      "seq=-1\n";
  EXPECT_EQ(matching(in_order + "1 comm 20 30 allreduce group=dp seq=-1\n"),
            (nlohmann::ordered_json{{"by", "call_order"}, {"share", 0.6667}}));
  EXPECT_EQ(matching("@run clock=same_host\n@group dp 0,1\n0 comm 0 10 allreduce group=dp seq=1\n"),
            (nlohmann::ordered_json{{"by", "none"}, {"share", 0.0}}));
}

TEST(Collectives, BusBandwidthCountsTransferOnly) {
  const Matched matched = match(three_ranks);
  ASSERT_EQ(matched.section().groups.size(), 1U);
  EXPECT_NEAR(matched.section().groups[0].busbw_gbps.value_or(0), 2.0 * 2 / 3 * 3000 / 11'000, 1e-9);
}

TEST(Collectives, TheFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(comm_op("all_reduce"), 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(comm_op("reduce_scatter"), 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(comm_op("AllGather"), 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(comm_op("broadcast"), 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(comm_op("barrier"), 4), 0);
  EXPECT_EQ(payload_bytes(comm_op("allgather"), 100, 4), 400);
  EXPECT_EQ(payload_bytes(comm_op("allreduce"), 100, 4), 100);
  EXPECT_EQ(payload_bytes(comm_op("allgather"), INT64_MAX, 4), std::nullopt);
}

TEST(Collectives, AShortTransferTellsNoBandwidth) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 10 allreduce group=dp seq=1 bytes=4\n1 comm 0 10 allreduce group=dp seq=1 bytes=4\n");
  EXPECT_EQ(matched.section().groups[0].why_no_busbw, "the transfer was too short to measure");
}

TEST(Collectives, BytesThatDoNotFitAreCountedAndNotAdded) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 10 allgather group=dp seq=1 bytes=9000000000000000000\n"
      "1 comm 0 10 allgather group=dp seq=1 bytes=9000000000000000000\n"
      "0 comm 20 30 allgather group=dp seq=2 bytes=4000000000000000000\n"
      "1 comm 20 30 allgather group=dp seq=2 bytes=4000000000000000000\n"
      "0 comm 40 50 allgather group=dp seq=3 bytes=4000000000000000000\n"
      "1 comm 40 50 allgather group=dp seq=3 bytes=4000000000000000000\n");
  const GroupRow& row = matched.section().groups[0];
  EXPECT_EQ(row.count, 3);
  EXPECT_EQ(row.bytes_too_large, 2) << "two times the first fits no 64 bits, nor does the sum of the others";
  EXPECT_EQ(row.bytes, 8'000'000'000'000'000'000);
}

TEST(Collectives, WhyThereIsNoBandwidthIsTheRealReason) {
  const Matched matched = match(
      "@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n"
      "0 comm 0 10000 broadcast group=dp seq=0 bytes=4096 peer=0\n1 comm 0 10000 broadcast group=dp seq=0 bytes=4096 "
      "peer=0\n"
      "0 comm 20000 90000 broadcast group=dp seq=1 bytes=4096 peer=0\n"
      "1 comm 20000 90000 broadcast group=dp seq=1 bytes=4096 peer=0\n");
  EXPECT_EQ(matched.section().groups[0].why_no_busbw, "the clocks of the ranks cannot be compared");
}

TEST(Collectives, AllReasonsForNoBandwidthAreSaid) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 10 allreduce group=dp seq=1 bytes=4\n1 comm 0 10 allreduce group=dp seq=1 bytes=4\n"
      "0 comm 20 30000 allreduce group=dp seq=2\n1 comm 20 30000 allreduce group=dp seq=2\n");
  EXPECT_EQ(matched.section().groups[0].why_no_busbw,
            "the transfer was too short to measure; the number of bytes was not recorded");
}

TEST(Collectives, ADifferenceBelowTheClockErrorNamesNobody) {
  const Matched matched = match(
      "@run clock=unit_ends clock_error=1000\n@group dp 0,1\n"
      "0 comm 0 90000 allreduce group=dp\n1 comm 1500 90000 allreduce group=dp\n");
  EXPECT_FALSE(matched.section().operations[0].last_rank.is_set());
  EXPECT_FALSE(matched.section().operations[0].first_rank.is_set());
}

TEST(Collectives, WithoutACommonClockTheShortestMemberWasLast) {
  const Matched matched = match(
      "@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n"
      "0 comm 0 100000 allreduce group=dp\n1 comm 9000000 9020000 allreduce group=dp\n");
  const Operation& operation = matched.section().operations[0];
  EXPECT_EQ(operation.last_rank, RankId{1});
  EXPECT_EQ(operation.first_rank, RankId{0});
  EXPECT_EQ(operation.transfer_ns, 20'000);
  EXPECT_EQ(operation.wait_ns, 80'000);
  EXPECT_EQ(matched.section().groups[0].method, "duration");
}

TEST(Collectives, WithoutACommonClockThirtyMicrosecondsClaimNothing) {
  const Matched matched = match(
      "@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n"
      "0 comm 0 45000 allreduce group=dp\n1 comm 9000000 9020000 allreduce group=dp\n");
  EXPECT_FALSE(matched.section().operations[0].last_rank.is_set());
}

TEST(Collectives, ABroadcastWaitsForItsRootOnly) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 30000 60000 broadcast group=dp peer=0\n"
      "1 comm 0 60000 broadcast group=dp peer=0\n"
      "2 comm 50000 60000 broadcast group=dp peer=0\n");
  EXPECT_EQ(matched.matching.parts[0].wait_ns, 0);
  EXPECT_EQ(matched.matching.parts[1].wait_ns, 30'000);
  EXPECT_EQ(matched.matching.parts[2].wait_ns, 0);
  EXPECT_EQ(matched.section().operations[0].last_rank, RankId{2});
  EXPECT_EQ(matched.matching.parts[1].waited_for, RankId{0}) << "not the last one";
  for (const std::size_t other : {0U, 2U}) EXPECT_FALSE(matched.matching.parts[other].waited_for.is_set());
}

TEST(Collectives, WhomARankWaitedForIsNotToldWhereClocksDoNotTellWhoWasLast) {
  const Matched matched = match(
      "@rank 0 host=a\n@rank 1 host=b\n@rank 2 host=c\n@group dp 0,1,2\n"
      "0 comm 0 900000 allreduce group=dp\n1 comm 9000000 9020000 allreduce group=dp\n"
      "2 comm 5000000 5030000 allreduce group=dp\n");
  EXPECT_EQ(matched.matching.parts[0].wait_ns, 880'000);
  EXPECT_FALSE(matched.matching.parts[0].waited_for.is_set()) << "1 and 2 lie too close together";
}

TEST(Collectives, OfAReduceOnlyTheRootWaits) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 60000 reduce group=dp peer=0\n1 comm 20000 60000 reduce group=dp peer=0\n");
  EXPECT_EQ(matched.matching.parts[0].wait_ns, 20'000);
  EXPECT_EQ(matched.matching.parts[1].wait_ns, 0);
}

TEST(Collectives, TheKthSendMeetsTheKthReceive) {
  const Matched matched = match(
      "@run clock=same_host\n@group pp 0,1\n"
      "0 comm 0 10 send group=pp peer=1 bytes=8\n"
      "0 comm 20 40 send group=pp peer=1 bytes=16\n"
      "0 comm 50 60 recv group=pp peer=1 bytes=4\n"
      "1 comm 5 10 recv group=pp peer=0 bytes=8\n"
      "1 comm 15 40 recv group=pp peer=0 bytes=16\n"
      "1 comm 45 60 send group=pp peer=0 bytes=4\n");
  ASSERT_EQ(matched.section().operations.size(), 3U);
  EXPECT_EQ(matched.section().matched, 6);
  EXPECT_EQ(matched.section().operations[1].wait_ns, 5) << "the receiver was there first";
  EXPECT_EQ(matched.section().groups[0].op, "sendrecv");
}

TEST(Collectives, MembersThatDisagreeAreADesync) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 10 allreduce group=dp bytes=8\n1 comm 0 10 allreduce group=dp bytes=8\n"
      "0 comm 20 30 allreduce group=dp bytes=8\n1 comm 20 30 broadcast group=dp bytes=8\n");
  EXPECT_EQ(matched.section().desyncs.at(0).sequence, 1);
  EXPECT_EQ(matched.section().desyncs.at(0).what, "rank 0: allreduce, 8 bytes; rank 1: broadcast, 8 bytes");
  EXPECT_EQ(matched.section().matched, 2);
  EXPECT_EQ(matched.section().unmatched, 2);
  EXPECT_EQ(matched.matching.quality.of(Counter::desync), 1U);
}

TEST(Collectives, OpenMembersAreUnmatched) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 10 allreduce group=dp\n1 comm 0 10 allreduce group=dp\n"
      "0 comm 20 - allreduce group=dp state=started\n");
  EXPECT_EQ(matched.section().matched, 2);
  EXPECT_EQ(matched.section().unmatched, 1);
  EXPECT_EQ(matched.section().partial, 1);
}

TEST(Collectives, RanksThatWereNotRecordedMakeWaitsLowerBounds) {
  const Matched matched = match(
      "@run clock=same_host world_size=3\n@group dp 0,1,2\n"
      "0 comm 0 50 allreduce group=dp\n2 comm 20 50 allreduce group=dp\n");
  EXPECT_FALSE(matched.section().operations[0].complete);
  EXPECT_EQ(matched.section().operations[0].wait_ns, 20);
  EXPECT_EQ(matched.section().partial, 1);
}

TEST(Collectives, WaitingForARankThatWasNotRecordedIsNotTransfer) {
  const auto of_two = [](std::string_view op) {
    return match("@run clock=same_host\n@group dp 0,1,2\n0 comm 0 100000 " + std::string{op} +
                 " group=dp seq=5 bytes=3000\n1 comm 40000 101000 " + std::string{op} + " group=dp seq=5 bytes=3000\n");
  };
  for (const char* const op : {"allreduce", "broadcast peer=2", "reduce peer=1"}) {
    const Matched matched = of_two(op);
    EXPECT_THAT(matched.section().groups.at(0).why_no_transfer, HasSubstr("may have been the last to arrive")) << op;
    EXPECT_EQ(matched.section().groups[0].busbw_gbps, std::nullopt) << op;
    for (const MemberPart& part : matched.matching.parts) EXPECT_FALSE(part.rest_is_transfer) << op;
  }
  EXPECT_EQ(of_two("allreduce").matching.parts[0].wait_ns, 40'000) << "it waited at least that long";
  for (const MemberPart& part : of_two("broadcast peer=0").matching.parts)
    EXPECT_TRUE(part.rest_is_transfer) << "all wait for the root, which was recorded";
}

TEST(Collectives, AHugeGroupIsNotCountedAgainForEachOfItsCollectives) {
  std::string text = "@run clock=same_host\n@group world 0";
  for (int rank = 1; rank < 4096; ++rank) text += "," + std::to_string(rank);
  for (int i = 0; i < 20000; ++i)
    text += "\n0 comm " + std::to_string(10 * i) + " " + std::to_string(10 * i + 5) + " allreduce group=world";
  const Matched matched = match(text + "\n");
  EXPECT_EQ(matched.matching.quality.of(Counter::collectives_alone), 20000U);
}

TEST(Collectives, PartnersThatWereNotRecordedAreNoError) {
  const Matched matched = match(
      "@run clock=same_host world_size=4\n@group dp 0,1\n@group tp 0,2\n"
      "0 comm 0 10 allreduce group=dp\n0 comm 20 30 allreduce group=tp\n0 comm 40 50 send group=tp peer=3\n"
      "2 comm 20 30 allreduce group=tp\n2 comm 60 70 allreduce group=tp\n");
  EXPECT_EQ(matched.section().unmatched, 3);
  EXPECT_EQ(matched.matching.quality.of(Counter::collectives_alone), 2U) << "in dp, and the send to rank 3";
  EXPECT_EQ(matched.matching.quality.of(Counter::collectives_unmatched), 1U) << "the second one of rank 2 in tp";
}

TEST(Collectives, AGroupOfOneIsNoCommunication) {
  const auto run = run_of("@group self 0\n0 comm 0 10 allreduce group=self\n");
  EXPECT_FALSE(match_collectives(*run, ClockTrust(*run)).section);
}

TEST(Collectives, AnEndBeforeTheLastStartIsAClockViolation) {
  const Matched matched = match(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 10 allreduce group=dp\n1 comm 20 30 allreduce group=dp\n");
  EXPECT_EQ(matched.matching.quality.of(Counter::clock_violations), 1U);
  EXPECT_EQ(matched.matching.parts[0].wait_ns, 10) << "never more than the duration";
}

}  // namespace
}  // namespace rankscope::analyzer
