#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/hang/written_dumps.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::judged;

constexpr std::string_view four_ranks = "@group 0 default_pg 0,1,2,3\n";

std::string with_groups(std::string_view groups, std::string_view calls) {
  return std::string{groups} + std::string{calls};
}

TEST(HangVerdict, ARankThatNeverCameIsTheRoot) {
  const HangReport report = judged(with_groups(four_ranks,
                                               "0 0 all_reduce 1 done\n0 0 all_reduce 2 open\n"
                                               "1 0 all_reduce 1 done\n1 0 all_reduce 2 open\n"
                                               "2 0 all_reduce 1 done\n"
                                               "3 0 all_reduce 1 done\n3 0 all_reduce 2 open\n"));
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::fact);
  ASSERT_TRUE(report.roots[0].operation);
  EXPECT_EQ(report.roots[0].operation->op, "all_reduce");
  EXPECT_EQ(report.roots[0].operation->sequence, 2);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("its last call in this group was collective 1"));
}

TEST(HangVerdict, ATimeoutOfThousandsOfYearsMakesNoRankLate) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n0 0 all_reduce 1 open at=100 timeout=20000000000\n"
      "1 0 all_reduce 1 open at=120 timeout=20000000000\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::link) << report.roots[0].evidence;
}

TEST(HangVerdict, WhoWaitsForAPeerThatWaitsElsewhereIsNotBlamed) {
  // 0 waits in pair a for 1, which waits in pair b for 2, which waits in pair c for 3.
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2,3\n@group 1 a 0,1\n@group 2 b 1,2\n@group 3 c 2,3\n"
      "0 1 all_reduce 1 open\n1 2 all_reduce 1 open\n2 3 all_reduce 1 open\n3 0 all_reduce 1 done\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{3}));
  EXPECT_EQ(report.roots[0].operation->group.name, "3");
  EXPECT_EQ(report.waiting.size(), 3U);
}

TEST(HangVerdict, ACycleNamesForWhomEachRankWaitsAndThenTheLine) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n@group 1 a 0,1\n@group 2 b 0,1\n"
      "0 1 all_reduce 1 open from=/data/train.py\n1 2 all_reduce 1 open from=/data/loss.py\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].evidence,
              ::testing::ContainsRegex("rank 0 waits in all_reduce 1 of .* for rank 1, called at train.py"));
  EXPECT_THAT(report.roots[0].evidence,
              ::testing::ContainsRegex("rank 1 waits in all_reduce 1 of .* for rank 0, called at loss.py"));
}

TEST(HangVerdict, TwoGroupsInDifferentOrderAreACycle) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2\n@group 1 a 0,1\n@group 2 b 0,1\n"
      "0 1 all_reduce 1 open\n1 2 all_reduce 1 open\n2 0 all_reduce 1 open\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::cycle);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{0}, RankId{1})) << "rank 2 only waits for both";
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::fact);
}

TEST(HangVerdict, AReceiveThatWasPostedLongBeforeIsNoCycle) {
  // Rank 0 is blocked in the all_reduce, like rank 1; its receive was only posted.
  const HangReport report =
      judged("@group 0 default_pg 0,1\n0 0 recv<1:0 - open\n0 0 all_reduce 5 open\n1 0 all_reduce 5 open size=9\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::size);
}

TEST(HangVerdict, AReceiveFromAnUnknownRankCannotBeJudged) {
  const HangReport report = judged("@group 0 default_pg 0,1\n0 0 recv<7:0 - open\n1 0 all_reduce 1 done\n");
  EXPECT_EQ(report.verdict, HangVerdict::cannot_tell);
  EXPECT_THAT(report.why_not_told, HasSubstr("rank 0 waits in a send or receive"));
  EXPECT_TRUE(report.roots.empty());
}

TEST(HangVerdict, WhatNcclGaveUpIsNotFinished) {
  const HangReport report = judged(with_groups(four_ranks,
                                               "0 0 all_reduce 2 open retired=1\n1 0 all_reduce 2 open retired=1\n"
                                               "2 0 all_reduce 1 done\n3 0 all_reduce 2 open retired=1\n"));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
}

TEST(HangVerdict, ARankWhoseRingIsEmptyIsLikelyTheOneThatNeverCame) {
  const HangReport report =
      judged(with_groups(four_ranks, "0 0 all_reduce 2 open\n1 0 all_reduce 2 open\n@rank 2\n3 0 all_reduce 2 open\n"));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::likely) << "its ring may have lost its calls";
}

// Ranks 0, 1 and 3 wait in all_reduce 10, after they finished 9 at 9000 s.
HangReport with_dump_of_rank_2(std::string_view calls) {
  return judged(with_groups(four_ranks,
                            "0 0 all_reduce 9 done at=9000\n0 0 all_reduce 10 open at=9001\n"
                            "1 0 all_reduce 9 done at=9000\n1 0 all_reduce 10 open at=9001\n"
                            "3 0 all_reduce 9 done at=9000\n3 0 all_reduce 10 open at=9001\n" +
                                std::string{calls}));
}

void expect_stale(const HangReport& report) {
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::no_dump);
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::guess);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  ASSERT_EQ(report.losses.size(), 1U);
  EXPECT_EQ(report.losses[0].counter, "dumps_stale");
  EXPECT_EQ(report.losses[0].where, "dump_2.json");
}

TEST(StaleDumps, OneThatLacksWhatItsPeersFinishedIsNotUsed) {
  expect_stale(with_dump_of_rank_2("2 0 all_reduce 3 done at=8990\n"));
}

TEST(StaleDumps, OneOfAnEarlierAttemptThatGotFurtherIsNotUsed) {
  expect_stale(with_dump_of_rank_2("2 0 all_reduce 50 done at=100\n2 0 all_reduce 51 open at=101\n"));
}

TEST(StaleDumps, OneThatEndsLongBeforeItsPeersIsNotUsed) {
  expect_stale(with_dump_of_rank_2("2 0 all_reduce 9 done at=100\n"));
}

TEST(StaleDumps, ARankThatWaitedForItsPeersIsNotStale) {
  // It called operation 9 first, and its peers came almost as late as the timeout of 600 s allows.
  const HangReport report = with_dump_of_rank_2("2 0 all_reduce 9 done at=8500\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  EXPECT_TRUE(report.losses.empty());
}

TEST(Files, ThatAreNoDumpsDoNotEnlargeTheJob) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path dumps = folder / "dumps";
  std::filesystem::create_directory(dumps);
  testing::write_dumps("0 0 all_reduce 2 open backend=gloo\n1 0 all_reduce 1 done backend=gloo\n", dumps);
  std::ofstream{folder / "log_5000.json"} << "{\"cut\": ";
  std::ofstream{dumps / "dump_2.json"} << "{\"entries\": [";
  const std::vector<std::filesystem::path> paths{dumps, folder / "log_5000.json"};
  const auto report = judge_dumps(paths, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->world_size, 3) << "the cut dump of rank 2 counts, since it follows on the others";
  EXPECT_EQ(report->losses.size(), 2U);
}

TEST(HangVerdict, AnotherOperationIsADifferentOrder) {
  const HangReport report = judged(with_groups(four_ranks,
                                               "0 0 all_reduce 5 open\n1 0 all_reduce 5 open\n"
                                               "2 0 broadcast 5 open\n3 0 all_reduce 5 open\n"));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::order);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  EXPECT_EQ(report.roots[0].operation->op, "all_reduce");
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("rank 2 called broadcast"));
}

TEST(HangVerdict, AnOperationThatOneSideFinishedIsStillCompared) {
  // The root of a broadcast of Gloo is done once its data is on the way.
  const HangReport report =
      judged(with_groups(four_ranks,
                         "0 0 all_reduce 5 open backend=gloo\n1 0 all_reduce 5 open backend=gloo\n"
                         "2 0 broadcast 5 done backend=gloo\n2 0 all_reduce 6 open backend=gloo\n"
                         "3 0 all_reduce 5 open backend=gloo\n"));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::order);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
}

TEST(HangVerdict, AnotherSizeOrTypeIsNamed) {
  const HangReport size = judged(with_groups(four_ranks,
                                             "0 0 all_reduce 5 open\n1 0 all_reduce 5 open size=5\n"
                                             "2 0 all_reduce 5 open\n3 0 all_reduce 5 open\n"));
  ASSERT_EQ(size.roots.size(), 1U);
  EXPECT_EQ(size.roots[0].kind, HangKind::size);
  EXPECT_THAT(size.roots[0].ranks, ElementsAre(RankId{1}));
  const HangReport type = judged(with_groups(four_ranks,
                                             "0 0 all_reduce 5 open\n1 0 all_reduce 5 open\n"
                                             "2 0 all_reduce 5 open\n3 0 all_reduce 5 open dtype=Half\n"));
  ASSERT_EQ(type.roots.size(), 1U);
  EXPECT_EQ(type.roots[0].kind, HangKind::dtype);
  EXPECT_THAT(type.roots[0].ranks, ElementsAre(RankId{3}));
}

TEST(HangVerdict, OfTwoThatDifferBothAreNamed) {
  const HangReport report = judged("@group 0 default_pg 0,1\n0 0 all_reduce 5 open\n1 0 all_reduce 5 open size=9\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{0}, RankId{1}));
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::likely);
}

TEST(HangVerdict, SizesOfAnAllToAllMayDiffer) {
  const HangReport report = judged("@group 0 default_pg 0,1\n0 0 all_to_all 5 open\n1 0 all_to_all 5 open size=9\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::link);
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::guess);
}

TEST(HangVerdict, ADeviceThatFinishedLessThanItsPeersIsStuck) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2\n"
      "0 0 all_reduce 4 done\n0 0 all_reduce 5 open\n"
      "1 0 all_reduce 4 open\n"
      "2 0 all_reduce 4 done\n2 0 all_reduce 5 open\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::device);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].operation->sequence, 5);
  EXPECT_NE(report.roots[0].advice.find(
                "the device of rank 1 for errors (nvidia-smi -q, Xid lines in dmesg), and run a diagnostic "
                "on it."),
            std::string::npos)
      << report.roots[0].advice;
}

TEST(HangVerdict, SeveralStuckDevicesAreNamedInThePlural) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2,3\n"
      "0 0 all_reduce 4 done\n0 0 all_reduce 5 open\n"
      "1 0 all_reduce 4 open\n2 0 all_reduce 4 open\n"
      "3 0 all_reduce 4 done\n3 0 all_reduce 5 open\n");
  ASSERT_EQ(report.roots.size(), 1U);
  ASSERT_EQ(report.roots[0].kind, HangKind::device);
  EXPECT_NE(
      report.roots[0].advice.find("the devices of ranks 1, 2 for errors (nvidia-smi -q, Xid lines in dmesg), and run a "
                                  "diagnostic on them."),
      std::string::npos)
      << report.roots[0].advice;
}

TEST(HangVerdict, ARankWithoutADumpIsOnlyAGuess) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2,3\n"
      "0 0 all_reduce 4 open\n1 0 all_reduce 4 open\n3 0 all_reduce 4 open\n");
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::no_dump);
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::guess);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
}

TEST(HangVerdict, OneDumpOfManyRanksCannotTell) {
  const HangReport report = judged("@group 0 default_pg 0,1,2,3\n0 0 all_reduce 4 open\n");
  EXPECT_EQ(report.verdict, HangVerdict::cannot_tell);
  EXPECT_THAT(report.why_not_told, HasSubstr("add the missing dumps"));
}

TEST(HangVerdict, ADumpThatIsDatedBeforeTheCallsProvesNoHang) {
  // The calls are in the year 2100: the file was copied, or another clock dated it.
  const HangReport report = judged(with_groups(four_ranks,
                                               "0 0 all_reduce 2 open at=4102444800\n1 0 all_reduce 1 done\n"
                                               "2 0 all_reduce 2 open at=4102444800\n"
                                               "3 0 all_reduce 2 open at=4102444800\n"));
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::likely);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("only if the job made no progress"));
}

TEST(HangVerdict, ADeviceIsNotStuckIfItsPeersHaveJustBegunToWait) {
  const std::string now = std::to_string(std::time(nullptr));
  const HangReport report = judged("@group 0 default_pg 0,1,2\n0 0 all_reduce 4 done at=" + now +
                                   "\n0 0 all_reduce 5 open at=" + now + "\n1 0 all_reduce 4 open at=" + now +
                                   "\n2 0 all_reduce 4 done at=" + now + "\n2 0 all_reduce 5 open at=" + now + "\n");
  EXPECT_EQ(report.verdict, HangVerdict::running);
  EXPECT_TRUE(report.roots.empty());
}

TEST(HangVerdict, NothingOpenIsFinished) {
  const HangReport report = judged("@group 0 default_pg 0,1\n0 0 all_reduce 4 done\n1 0 all_reduce 4 done\n");
  EXPECT_EQ(report.verdict, HangVerdict::finished);
  EXPECT_TRUE(report.roots.empty());
}

TEST(HangVerdict, ARankThatCameMuchLaterIsOnlySlow) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2\n"
      "0 0 all_reduce 4 open at=100\n1 0 all_reduce 4 open at=700\n2 0 all_reduce 4 open at=101\n");
  EXPECT_EQ(report.verdict, HangVerdict::slow);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::straggler);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
}

TEST(HangVerdict, NamesTheLinesThatMadeTheCallsAlsoInAFolderNamedTorch) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2\n"
      "0 0 all_reduce 4 open from=/data/torch/train.py\n1 0 all_reduce 4 open from=/data/torch/train.py\n"
      "2 0 all_reduce 3 done from=/data/torch/loss.py\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("called at train.py:12 in step by rank 0; "));
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("collective 3, at loss.py:12 in step; "));
}

TEST(HangVerdict, AReceiveWithoutASendBlamesTheSender) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n@group 1 pipe 0,1\n"
      "0 1 send>1:0 - done\n1 1 recv<0:1 - done\n1 1 recv<0:1 - open\n0 0 all_reduce 1 done\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{0}));
  EXPECT_EQ(report.roots[0].operation->op, "recv");
}

TEST(HangVerdict, GlooNamesNoMembersSoTheDumpsDo) {
  const HangReport report = judged(
      "0 0 all_reduce 1 done backend=gloo\n0 0 all_reduce 2 open backend=gloo\n"
      "1 0 all_reduce 1 done backend=gloo\n"
      "2 0 all_reduce 1 done backend=gloo\n2 0 all_reduce 2 open backend=gloo\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::likely) << "sends and receives of Gloo are not in the dumps";
}

}  // namespace
}  // namespace rankscope::analyzer
