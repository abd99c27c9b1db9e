// How a root cause is put into words.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer {
namespace {

std::string clause(HangKind kind, std::vector<RankId> ranks, HangCertainty certainty) {
  HangOperation operation;
  operation.op = "all_reduce";
  operation.sequence = 3;
  HangRoot root{.ranks = std::move(ranks), .kind = kind, .certainty = certainty, .operation = operation};
  std::string text = hang_clause(root);
  const std::size_t name = text.find("all_reduce");
  return name == std::string::npos ? text : text.substr(0, name) + "X";
}

TEST(HangClause, SaysThatOneRankDiffersFromItsPeers) {
  const std::vector<RankId> one{RankId{1}};
  EXPECT_EQ(clause(HangKind::order, one, HangCertainty::likely), "rank 1 called an operation other than X");
  EXPECT_EQ(clause(HangKind::size, one, HangCertainty::likely), "rank 1 passed a different size to X");
}

TEST(HangClause, SaysThatSeveralRanksDifferFromTheMajority) {
  const std::vector<RankId> two{RankId{1}, RankId{3}};
  EXPECT_EQ(clause(HangKind::order, two, HangCertainty::fact), "ranks 1, 3 called an operation other than X");
  EXPECT_EQ(clause(HangKind::size, two, HangCertainty::fact), "ranks 1, 3 passed a different size to X");
  EXPECT_EQ(clause(HangKind::dtype, two, HangCertainty::fact), "ranks 1, 3 passed a different element type to X");
  EXPECT_EQ(clause(HangKind::root, two, HangCertainty::fact), "ranks 1, 3 named a different root in X");
}

TEST(HangClause, BlamesNobodyWhereThereIsNoMajority) {
  const std::vector<RankId> both{RankId{0}, RankId{1}};
  EXPECT_EQ(clause(HangKind::order, both, HangCertainty::likely), "ranks 0, 1 did not all call X");
  EXPECT_EQ(clause(HangKind::size, both, HangCertainty::likely), "ranks 0, 1 passed different sizes to X");
  EXPECT_EQ(clause(HangKind::dtype, both, HangCertainty::likely), "ranks 0, 1 passed different element types to X");
  EXPECT_EQ(clause(HangKind::root, both, HangCertainty::likely), "ranks 0, 1 named different roots in X");
}

}  // namespace
}  // namespace rankscope::analyzer
