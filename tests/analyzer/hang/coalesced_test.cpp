// Calls that were made as one: in the dumps they have no state of their own, and NCCL and XCCL number them differently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/hang/written_dumps.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::judged;

TEST(Coalesced, CollectivesOfOneGroupAreOneOperation) {
  const std::string both =
      " 0 reduce_scatter 4 open size=8 id=4\n"
      "# 0 all_reduce 4 open size=2 dtype=Half id=5\n"
      "# 0 coalesced 4 done id=5\n";
  const auto of = [&both](char rank) {
    std::string text = rank + both;
    for (char& letter : text)
      if (letter == '#') letter = rank;
    return text;
  };
  const HangReport report = judged("@group 0 default_pg 0,1\n" + of('0') + "0 0 all_reduce 5 open id=6\n" + of('1'));
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came) << report.roots[0].evidence;
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].operation->sequence, 5) << "what was coalesced has finished";
}

TEST(Coalesced, TheRingOfARankMayBeginInsideOfTheGroup) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n"
      "0 0 reduce_scatter 4 open record=8\n0 0 all_reduce 4 open record=9\n0 0 coalesced 4 open record=10\n"
      "1 0 all_reduce 4 open record=9\n1 0 coalesced 4 open record=10\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::link) << "both called the same: " << report.roots[0].evidence;
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{0}, RankId{1}));
}

TEST(Coalesced, MoreCallsThanAreComparedAreStillAlike) {
  std::string text = "@group 0 default_pg 0,1\n";
  for (const char rank : {'0', '1'}) {
    text += std::string{rank} + " 0 all_reduce 3 done\n";
    for (int i = 0; i < 40; ++i) text += std::string{rank} + (i == 0 ? " 0 broadcast 4 open\n" : " 0 reduce 4 open\n");
    if (rank == '0') text += "0 0 coalesced 4 open\n";
  }
  text += "1 0 reduce 4 open\n1 0 coalesced 4 open\n";
  const HangReport report = judged(text);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::link) << report.roots[0].evidence;
}

TEST(Coalesced, AnUnevenGatherEndsWithItsOwnName) {
  // As PyTorch writes it since 2.7: the broadcasts inside keep the state "scheduled" for ever.
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n"
      "0 0 _broadcast_oop 4 open size=3\n0 0 _broadcast_oop 4 open size=5\n0 0 ALLGATHER_coalesced 4 done\n"
      "1 0 _broadcast_oop 4 open size=3\n1 0 _broadcast_oop 4 open size=5\n1 0 ALLGATHER_coalesced 4 done\n");
  EXPECT_EQ(report.verdict, HangVerdict::finished);
}

TEST(Coalesced, ACallThatIsNamedSoIsACall) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n"
      "0 0 all_reduce 1 done\n0 0 allreduce_coalesced 2 open\n1 0 all_reduce 1 done\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_EQ(report.roots[0].operation->op, "allreduce_coalesced");
}

TEST(Coalesced, SendsAndReceivesOfAGroupWaitTogether) {
  // Rank 1 exchanges with both neighbours at once; rank 2 has not come.
  const HangReport report = judged(
      "@group 0 default_pg 0,1,2\n"
      "0 0 send>1:0 - open seq2=1\n0 0 recv<1:0 - open seq2=1\n0 0 coalesced 0 done pair=1 seq2=1\n"
      "1 0 send>0:1 - open seq2=1\n1 0 recv<0:1 - open seq2=1\n1 0 coalesced 0 done pair=1 seq2=1\n"
      "1 0 send>2:1 - open seq2=2\n1 0 recv<2:1 - open seq2=2\n1 0 coalesced 0 open pair=1 seq2=2\n"
      "2 0 all_reduce 0 done\n");
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_FALSE(report.roots.empty());
  for (const HangRoot& root : report.roots) {
    EXPECT_EQ(root.kind, HangKind::never_came) << root.evidence;
    EXPECT_THAT(root.ranks, ElementsAre(RankId{2})) << root.evidence;
  }
}

TEST(Xccl, IsReadAsNcclIs) {
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n"
      "0 0 all_reduce 1 done backend=xccl\n0 0 all_reduce 2 open backend=xccl\n1 0 all_reduce 1 done backend=xccl\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].operation->op, "all_reduce");
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::fact) << "its dumps have sends and receives";
}

TEST(Xccl, ACallThatIsRecordedTwiceIsOneCall) {
  // Of a send, one of both entries gets a state; of a coalesced collective, too, and each has a number of its own.
  const HangReport report = judged(
      "@group 0 default_pg 0,1\n"
      "0 0 send>1:0 - open backend=xccl seq2=1 id=1\n0 0 send>1:0 - done backend=xccl seq2=1 id=1\n"
      "0 0 all_reduce 2 done backend=xccl id=2\n0 0 all_reduce 2 open backend=xccl id=2\n"
      "0 0 all_reduce 3 done backend=xccl id=3\n0 0 all_reduce 3 open backend=xccl id=3\n"
      "0 0 coalesced 3 done backend=xccl id=3\n0 0 all_gather 4 open backend=xccl id=3\n"
      "1 0 recv<0:1 - open backend=xccl seq2=1 id=1\n1 0 recv<0:1 - done backend=xccl seq2=1 id=1\n"
      "1 0 all_reduce 2 done backend=xccl id=2\n1 0 all_reduce 2 open backend=xccl id=2\n"
      "1 0 all_reduce 3 done backend=xccl id=3\n1 0 all_reduce 3 open backend=xccl id=3\n"
      "1 0 coalesced 3 done backend=xccl id=3\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came) << report.roots[0].evidence;
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("all_gather 4"));
}

}  // namespace
}  // namespace rankscope::analyzer
