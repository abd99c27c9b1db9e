#include "rankscope/core/recording/rank_list.h"

#include <gtest/gtest.h>

#include "rankscope/core/recording/format.h"

namespace rankscope::recording {
namespace {

std::vector<RankId> ranks(std::uint32_t count, std::uint32_t stride = 1) {
  std::vector<RankId> list;
  for (std::uint32_t i = 0; i < count; ++i) list.push_back(RankId{i * stride});
  return list;
}

TEST(RankList, IsPlainWhereThatFits) {
  EXPECT_EQ(rank_list({}), "");
  EXPECT_EQ(rank_list(ranks(4, 8)), "0,8,16,24");
}

TEST(RankList, HasRunsWhereAllRanksAreTooLongForATextOfARecording) {
  EXPECT_EQ(rank_list(ranks(1024)), "0-1023");
  EXPECT_EQ(rank_list(ranks(1024, 8)), "0-8184:8");
  std::vector<RankId> odd = ranks(1024);
  odd.erase(odd.begin() + 5);
  std::swap(odd[0], odd[1]);
  EXPECT_EQ(rank_list(odd), "1,0,2-4,6-1023");
  for (const auto& list : {ranks(1024), ranks(5000, 3), odd}) {
    EXPECT_EQ(ranks_in(rank_list(list)), list);
    EXPECT_LE(rank_list(list).size(), longest_string);
  }
}

TEST(RankList, RefusesWhatIsNone) {
  for (const char* text :
       {"x", "1,,2", "1-", "5-2", "1-9:0", "1;2", "0-4294967295", "-3", "16777216", "16777200-16777216:8"})
    EXPECT_FALSE(ranks_in(text)) << text;
  EXPECT_EQ(ranks_in("16777210-16777215:3"), (std::vector{RankId{16777210}, RankId{16777213}}));
}

}  // namespace
}  // namespace rankscope::recording
