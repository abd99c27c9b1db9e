#include <gtest/gtest.h>

#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"

namespace rankscope {
namespace {

TEST(PairedRun, HasThePartnersAndANewGroupWhereTheRecordingHasNone) {
  const auto run = run_from_text(
                       "@run source=kineto\n@rank 0\n@rank 1\n@group pp 0,1\n"
                       "0 comm 0 90 send group=pp seq=-1 lane=main\n1 comm 10 95 recv group=pp seq=-1 lane=main\n")
                       .value();
  ASSERT_EQ(run->collectives()[0].peer, -1);
  const std::vector<NewGroup> groups{{"found by times", {RankId{0}, RankId{1}}}};
  const std::vector<Partner> partners{{0, GroupId{1}, RankId{1}}, {1, GroupId{1}, RankId{0}}};
  const auto paired = RunBuilder::paired(*run, groups, partners);
  ASSERT_EQ(paired->groups().size(), 2U);
  EXPECT_TRUE(paired->groups()[1].by_ends);
  EXPECT_FALSE(paired->groups()[0].by_ends);
  ASSERT_EQ(paired->collectives().size(), 2U);
  for (const Collective& row : paired->collectives()) {
    EXPECT_EQ(row.group, GroupId{1});
    EXPECT_EQ(row.peer, 1 - static_cast<std::int64_t>(row.rank.value));
    EXPECT_EQ(&paired->collectives()[paired->span(row.span).collective], &row);
  }
}

}  // namespace
}  // namespace rankscope
