#include "alignment/align.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "alignment/aligned_run.h"
#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_of;

constexpr std::string_view head = "@run clock=wall_clock clock_error=10000000 source=kineto\n";

struct Part {
  std::uint32_t rank;
  double begin_ms;
  double end_ms;
  std::string_view op = "allreduce";
};

std::shared_ptr<const Run> parts(std::uint32_t ranks, const std::vector<Part>& all) {
  std::string text{head};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) text += format("@rank {}\n", rank);
  for (const Part& part : all)
    text += format("{} comm {} {} {} group=-\n", part.rank, std::llround(part.begin_ms * 1e6),
                   std::llround(part.end_ms * 1e6), part.op);
  return run_of(text);
}

/// `count` operations 100 ms apart; rank 1 begins 3 ms later and ends 0.2 ms later.
std::vector<Part> together(int count) {
  std::vector<Part> all;
  for (int i = 1; i <= count; ++i) {
    all.push_back({0, 100.0 * i, 100.0 * i + 10});
    all.push_back({1, 100.0 * i + 3, 100.0 * i + 10.2});
  }
  return all;
}

Matching matched(const Run& run) {
  const AlignedRun aligned{run};
  return match_collectives(aligned.run(), aligned.clocks());
}

TEST(OperationsFoundByEnds, AreThoseThatEndTogetherOnDifferentRanks) {
  const auto run = parts(2, together(3));
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->operations.size(), 3U);
  EXPECT_EQ(matching.section->matched, 6);
  EXPECT_EQ(matching.section->unmatched, 0);
  EXPECT_THAT(matching.section->key, HasSubstr("end times that agree"));
  EXPECT_THAT(matching.section->matched_by, ElementsAre(0, 0, 6));
}

TEST(OperationsFoundByEnds, TellByTheirDurationsWhoCameLast) {
  const auto run = parts(2, together(3));
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  for (const Operation& operation : matching.section->operations) {
    EXPECT_EQ(operation.last_rank, RankId{1});
    EXPECT_EQ(operation.wait_ns, 2'800'000);  // 10 ms less 7.2 ms
  }
}

TEST(OperationsFoundByEnds, LeavePartsWithoutPartnerAlone) {
  std::vector<Part> all = together(3);
  all.push_back({0, 550, 560});
  const auto run = parts(2, all);
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 6);
  EXPECT_EQ(matching.section->unmatched, 1);
}

TEST(OperationsFoundByEnds, AreNotThoseWithASecondCandidateNear) {
  std::vector<Part> all = together(4);
  all.push_back({1, 210.3, 210.9});  // the second operation of rank 0 could be this or the other
  const auto run = parts(2, all);
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 6);
  EXPECT_EQ(matching.section->unmatched, 3);
}

TEST(OperationsFoundByEnds, MustBeOfOneKind) {
  std::vector<Part> all = together(4);
  for (Part& part : all)
    if (part.rank == 1) part.op = "broadcast";
  const auto run = parts(2, all);
  EXPECT_EQ(match_by_ends(*run).run, nullptr);
}

TEST(OperationsFoundByEnds, MayBeAllToAllOnOneRankAndSendReceiveOnTheOther) {
  std::vector<Part> all = together(3);
  for (Part& part : all) part.op = part.rank == 1 ? "sendrecv" : "alltoall";
  const auto run = parts(2, all);
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 6);
  EXPECT_THAT(matching.section->desyncs, IsEmpty());
}

TEST(OperationsFoundByEnds, AreNotConcludedFromTwo) {
  const auto run = parts(2, together(2));
  const TimeMatching found = match_by_ends(*run);
  EXPECT_EQ(found.run, nullptr);
  EXPECT_THAT(found.note, HasSubstr("too few calls end at the same time"));
}

TEST(OperationsFoundByEnds, AreNotConcludedWhereChanceGivesAsMany) {
  std::vector<Part> all;
  for (int i = 1; i <= 40; ++i) {  // every 2.5 ms on one rank, every 2.9 ms on the other: some agree
    all.push_back({0, 2.5 * i - 0.5, 2.5 * i});
    all.push_back({1, 2.9 * i - 0.5, 2.9 * i});
  }
  const auto run = parts(2, all);
  const TimeMatching found = match_by_ends(*run);
  EXPECT_EQ(found.run, nullptr);
  EXPECT_THAT(found.note, HasSubstr("too few calls end at the same time"));
}

TEST(OperationsFoundByEnds, OfDifferentRanksAreDifferentGroups) {
  std::vector<Part> all = together(3);
  for (int i = 1; i <= 3; ++i) {
    all.push_back({2, 100.0 * i + 40, 100.0 * i + 50});
    all.push_back({3, 100.0 * i + 41, 100.0 * i + 50});
  }
  const auto run = parts(4, all);
  const TimeMatching found = match_by_ends(*run);
  ASSERT_NE(found.run, nullptr);
  ASSERT_EQ(found.run->groups().size(), 2U);
  EXPECT_THAT(found.run->groups()[0].members, ElementsAre(RankId{0}, RankId{1}));
  EXPECT_THAT(found.run->groups()[1].members, ElementsAre(RankId{2}, RankId{3}));
}

/// `count` all-reduces as NCCL's kernels of a small model: every 300 us, rank 1 begins later and ends `apart_us` later.
std::vector<Part> dense(int count, double apart_us) {
  std::vector<Part> all;
  for (int i = 1; i <= count; ++i) {
    all.push_back({0, 0.3 * i, 0.3 * i + 0.2});
    all.push_back({1, 0.3 * i + 0.1, 0.3 * i + 0.2 + apart_us / 1000});
  }
  return all;
}

TEST(OperationsFoundByEnds, MayFollowEachOtherCloselyWhereEndsAgreeWithinMicroseconds) {
  const auto run = parts(2, dense(8, 7));
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->operations.size(), 8U);
  EXPECT_EQ(matching.section->matched, 16);
  EXPECT_EQ(matching.section->key, "end times that agree within 7.00 µs (the recording names no groups)");
  EXPECT_THAT(match_by_ends(*run).note,
              HasSubstr("8 collectives were matched by the times at which they end (within 50 µs, in the same order on "
                        "all ranks); they contain 16 of 16 calls. About "));
}

TEST(OperationsFoundByEnds, AreRefusedWhereCloseEndsDisagree) {
  const auto run = parts(2, dense(8, 120));
  EXPECT_EQ(match_by_ends(*run).run, nullptr);
}

TEST(OperationsFoundByEnds, OfABurstAreThoseInTheSameOrder) {
  std::vector<Part> all;
  for (int burst = 1; burst <= 4; ++burst)
    for (int i = 0; i < 5; ++i) {  // every 20 us
      all.push_back({0, 100.0 * burst + 0.02 * i, 100.0 * burst + 0.02 * i + 0.018});
      all.push_back({1, 100.0 * burst + 0.02 * i, 100.0 * burst + 0.02 * i + 0.023});
    }
  const auto run = parts(2, all);
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 40);
  EXPECT_EQ(matching.section->operations.size(), 20U);
  all.push_back({1, 400.09, 400.1});  // one more on one rank only: which one is not known
  EXPECT_EQ(matched(*parts(2, all)).section->matched, 30);
}

TEST(OperationsFoundByEnds, HaveOneSizeWhereSizesAreKnown) {
  std::string text{head};
  text += "@rank 0\n@rank 1\n";
  for (int i = 1; i <= 4; ++i) {
    const int end = i * 300'000;
    text += format("0 comm {} {} allreduce group=- bytes=4000\n", end - 200'000, end);
    text += format("1 comm {} {} allreduce group=- bytes={}\n", end - 100'000, end + 5'000, i == 4 ? 8000 : 4000);
  }
  const auto run = run_of(text);
  const Matching matching = matched(*run);
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 6);
  EXPECT_THAT(matching.section->desyncs, IsEmpty()) << "what was only guessed is no bug of the program";
}

TEST(OperationsFoundByEnds, AreNotLookedForWhereGroupsAreKnown) {
  const auto run = run_of(std::string{head} +
                          "@rank 0\n@rank 1\n@group dp 0,1\n0 comm 0 100 allreduce group=dp seq=1\n"
                          "1 comm 0 100 allreduce group=dp seq=1\n");
  const TimeMatching found = match_by_ends(*run);
  EXPECT_EQ(found.run, nullptr);
  EXPECT_EQ(found.note, "");
}

TEST(OperationsFoundByEnds, DoNotSetClocks) {
  const auto run = parts(2, together(60));
  const Alignment aligned = align_clocks(*run);
  EXPECT_NE(aligned.clock.method, "unit_ends");
  EXPECT_NE(aligned.clock.method, "assumed_shared");
}

/// Two ranks that have nothing to do with each other, with bursts of 40 parts every 8 to 12 ms.
std::shared_ptr<const Run> unrelated(std::uint64_t seed) {
  std::mt19937_64 dice{seed};
  std::vector<Part> all;
  for (const std::uint32_t rank : {0U, 1U}) {
    double burst = 0;
    for (int i = 0; i < 600; ++i) {
      burst += 8 + 4 * static_cast<double>(dice() % 1000) / 1000;
      for (int part = 0; part < 40; ++part) all.push_back({rank, burst + 0.02 * part, burst + 0.02 * part + 0.01});
    }
  }
  return parts(2, all);
}

TEST(OperationsFoundByEnds, AreNotConcludedFromBurstsThatMeetByChance) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TimeMatching found = match_by_ends(*unrelated(seed));
    EXPECT_EQ(found.run, nullptr) << seed << ' ' << found.note;
    EXPECT_THAT(found.note, HasSubstr("too few calls end at the same time"));
  }
}

TEST(OperationsFoundByEnds, AreATenthOfAllPartsAtLeast) {
  std::vector<Part> all = together(4);
  for (int i = 0; i < 100; ++i) all.push_back({0, 1000.0 + 40 * i, 1010.0 + 40 * i});
  const TimeMatching found = match_by_ends(*parts(2, all));
  EXPECT_EQ(found.run, nullptr) << found.note;
}

}  // namespace
}  // namespace rankscope::analyzer
