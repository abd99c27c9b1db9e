// What --rank-map says, as every program reads it.
#include <gmock/gmock.h>

#include "rankscope/analyzer/open.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// The complaint; empty: there is none.
std::string refusal_of(std::string_view text) {
  const auto map = rank_map_from(text);
  return map ? std::string{} : map.error().message;
}

TEST(RankMap, NamesTheRankOfEachFile) {
  EXPECT_THAT(rank_map_from("").value(), IsEmpty());
  EXPECT_THAT(rank_map_from("b.json=3").value(), ElementsAre(Pair("b.json", 3U)));
  EXPECT_THAT(rank_map_from("b.json=0,a.json=16777215").value(),
              ElementsAre(Pair("a.json", 16777215U), Pair("b.json", 0U)));
}

TEST(RankMap, FilesMayHaveEqualSignsAndProcesses) {
  EXPECT_THAT(rank_map_from("lr=0.1/a.json=2,report.sqlite:71=4").value(),
              ElementsAre(Pair("lr=0.1/a.json", 2U), Pair("report.sqlite:71", 4U)));
}

TEST(RankMap, AFileHasOneRank) {
  EXPECT_EQ(refusal_of("a.json=1,b.json=2,a.json=2"), "--rank-map: a.json is given twice");
  EXPECT_EQ(refusal_of("a.json=1,a.json=1"), "--rank-map: a.json is given twice");
}

TEST(RankMap, RanksAreBounded) {
  for (const char* const rank : {"-1", "16777216", "99999999999", "1x", "+1", " 1", "1.0"})
    EXPECT_EQ(
        refusal_of(std::string{"a.json="} + rank),
        std::string{"--rank-map: the rank of a.json must be a whole number from 0 to 16777215 (is \""} + rank + "\")");
  EXPECT_THAT(refusal_of("a.json="), HasSubstr("(is empty)"));
}

TEST(RankMap, EveryPartSaysBoth) {
  for (const auto& [text, part] : {std::pair{"a.json", "a.json"},
                                   {"=3", "=3"},
                                   {",", ""},
                                   {",a.json=1", ""},
                                   {"a.json=1,", ""},
                                   {"a.json=1,,b.json=2", ""}})
    EXPECT_EQ(refusal_of(text), std::string{"--rank-map must be FILE=RANK,... (has \""} + part + "\")") << text;
}

}  // namespace
}  // namespace rankscope::analyzer
