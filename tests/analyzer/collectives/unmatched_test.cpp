// Why parts of operations found no partner.
#include "collectives/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using testing::run_of;

/// Reasons of a run, which must add up to all that found no partner.
std::vector<UnmatchedParts> unmatched(std::string_view text) {
  const auto run = run_of(text);
  const Matching matching = match_collectives(*run, ClockTrust(*run));
  EXPECT_TRUE(matching.section);
  std::int64_t sum = 0;
  for (const UnmatchedParts& parts : matching.section->unmatched_parts) sum += parts.count;
  EXPECT_EQ(sum, matching.section->unmatched);
  return matching.section->unmatched_parts;
}

constexpr std::string_view one_group = "@run clock=same_host\n@group dp 0,1\n";

std::string numbered(int rank, std::initializer_list<int> sequences, std::string_view more = "") {
  std::string text;
  for (const int sequence : sequences)
    text += std::to_string(rank) + " comm " + std::to_string(1000 * sequence) + " " +
            std::to_string(1000 * sequence + 500) + " allreduce group=dp seq=" + std::to_string(sequence) +
            std::string{more} + "\n";
  return text;
}

TEST(UnmatchedParts, AreNoneWhereAllFoundPartners) {
  EXPECT_TRUE(unmatched(std::string{one_group} + numbered(0, {1, 2}) + numbered(1, {1, 2})).empty());
}

TEST(UnmatchedParts, OfRanksThatWereNotGivenSayThat) {
  const auto parts = unmatched("@run clock=same_host world_size=2\n@group dp 0,1\n" + numbered(0, {1, 2, 3}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].count, 3);
  EXPECT_EQ(parts[0].group, "dp");
  EXPECT_EQ(parts[0].op, "allreduce");
  EXPECT_THAT(parts[0].why, HasSubstr("were not given"));
}

/// The ends of the operations of rank 1 were in the part of its file that is cut off.
TEST(UnmatchedParts, OfARankWhoseFileIsCutNameTheLossAndNoHang) {
  const std::string head = "@run clock=same_host\n@group dp 0,1\n@quality segment_cut 1 a.rseg rank=1\n";
  const auto parts = unmatched(head + numbered(0, {1, 2}) + "1 comm 1000 - allreduce group=dp seq=1\n");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].count, 2);
  EXPECT_THAT(parts[0].why, HasSubstr("events of the other ranks were lost, probably also those of this operation"));
  EXPECT_EQ(parts[1].count, 1);
  EXPECT_THAT(parts[1].why,
              HasSubstr("the end of the call was not recorded, probably because events of the rank were lost"));
}

TEST(UnmatchedParts, AtTheEdgesAreOfRecordingsThatCoverOtherTimes) {
  const auto parts = unmatched(std::string{one_group} + numbered(0, {1, 2, 3, 4}) + numbered(1, {3, 4, 5}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].count, 3) << "1 and 2 of rank 0, 5 of rank 1";
  EXPECT_EQ(parts[0].rank, RankId{0});
  EXPECT_EQ(parts[0].first, at(1000));
  EXPECT_THAT(parts[0].why, HasSubstr("do not cover the same time"));
}

/// Of two ranks with steps of 1 µs from 2 µs on.
std::int64_t unknown_members_in_steps(const std::string& operations) {
  std::string text = std::string{one_group} + "@group tp 0,2\n" + operations;
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 6; ++step)
      text += format("{} step {} {} step index={}\n", rank, 2000 + 1000 * step, 3000 + 1000 * step, step);
  return analyze(*run_of(text), {}).collectives->unknown_in_steps;
}

TEST(UnmatchedParts, CountInTheStepsOnly) {
  EXPECT_EQ(unknown_members_in_steps(numbered(0, {2, 3, 4}) + numbered(1, {2, 3, 4})), 0);
  EXPECT_EQ(unknown_members_in_steps(numbered(0, {1, 2, 3, 4}) + numbered(1, {2, 3, 4})), 0) << "before the steps";
  EXPECT_EQ(unknown_members_in_steps(numbered(0, {2, 3, 4}) + numbered(1, {2, 4})), 1);
  EXPECT_EQ(unknown_members_in_steps("0 comm 3100 3200 allreduce group=tp seq=0\n" + numbered(0, {2, 4}) +
                                     numbered(1, {2, 4})),
            0)
      << "the partner was not recorded, which is said elsewhere";
}

TEST(UnmatchedParts, InTheMiddleWereLostOrLeftOut) {
  const auto parts = unmatched(std::string{one_group} + numbered(0, {1, 2, 3}) + numbered(1, {1, 3}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(parts[0].why, HasSubstr("lost, or the program skipped it"));
}

TEST(UnmatchedParts, WhoseRanksDisagreeAreProbablyABug) {
  const auto parts =
      unmatched(std::string{one_group} + numbered(0, {1}, " bytes=4000") + numbered(1, {1}, " bytes=8000"));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].count, 2);
  EXPECT_THAT(parts[0].why, HasSubstr("disagree"));
}

TEST(UnmatchedParts, OfASendWhoseReceiverHangsSayThat) {
  const auto parts = unmatched(std::string{one_group} +
                               "0 comm 0 100 send group=dp peer=1\n"
                               "1 comm 0 - recv group=dp peer=0 state=started\n");
  ASSERT_EQ(parts.size(), 2U);
  for (const UnmatchedParts& part : parts)
    EXPECT_THAT(part.why,
                HasSubstr(part.op == "send" ? "not finished on the other ranks" : "the call was not finished"));
}

TEST(UnmatchedParts, OfSendsSayThatTheReceiverRecordedFewer) {
  const auto parts = unmatched(std::string{one_group} +
                               "0 comm 0 100 send group=dp peer=1\n0 comm 200 300 send group=dp peer=1\n"
                               "1 comm 0 100 recv group=dp peer=0\n");
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].op, "send");
  EXPECT_THAT(parts[0].why, HasSubstr("the partner recorded fewer"));
}

}  // namespace
}  // namespace rankscope::analyzer
