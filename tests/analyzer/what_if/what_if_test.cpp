// What imbalance costs, by kind, rank and operation.
#include "what_if/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/replay/replayed.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "what_if/parts.h"

namespace rankscope::analyzer::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Section<WhatIfSection> what_if_of(const Replayed& replayed) {
  return what_if(*replayed.graph, ItemPeers(*replayed.graph, replayed.classes));
}

double slowdown_of(const std::vector<KindSlowdown>& kinds, std::string_view kind) {
  for (const KindSlowdown& one : kinds)
    if (one.kind == kind) return one.slowdown;
  return 0;
}

// Rank 0 computes 40 ns, rank 1 80 ns; then 20 ns of transfer. Ideal: 60 + 20.
TEST(WhatIf, ComparesWithWorkThatIsSharedEvenly) {
  const auto section = what_if_of(Replayed{two_ranks});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->replayed_ns, 100);
  EXPECT_EQ(section->ideal_ns, 80);
  EXPECT_DOUBLE_EQ(section->slowdown.value_or(0), 1.25);
  EXPECT_EQ(section->ideal_network_ns.value_or(-1), 80);
  EXPECT_DOUBLE_EQ(slowdown_of(section->kinds, "compute"), 1.25);
  EXPECT_DOUBLE_EQ(slowdown_of(section->kinds, "comm"), 1);
}

TEST(WhatIf, NamesTheRankAndTheOperationThatCost) {
  const auto section = what_if_of(Replayed{two_ranks});
  ASSERT_TRUE(section);
  ASSERT_EQ(section->ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(section->ranks[0].slowdown, 1);
  EXPECT_DOUBLE_EQ(section->ranks[1].slowdown, 1.25);
  EXPECT_EQ(section->ranks[0].without_rank_ns, 100);
  EXPECT_EQ(section->ranks[1].without_rank_ns, 60);
  ASSERT_FALSE(section->operations.empty());
  EXPECT_EQ(section->operations[0].name, "forward");
  EXPECT_DOUBLE_EQ(section->operations[0].slowdown, 1.25);
  EXPECT_EQ(section->few, 1);
  EXPECT_DOUBLE_EQ(section->few_ranks.value(), 1);
  EXPECT_DOUBLE_EQ(section->few_ranks_added.value(), 1);
  EXPECT_FALSE(section->last_stage);
}

TEST(WhatIf, TellsHowManyOperationsMissPartners) {
  EXPECT_DOUBLE_EQ(what_if_of(Replayed{two_ranks})->partners_unknown, 0);
  const auto section = what_if_of(Replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 100 step index=0
0 forward 0 40 forward
0 wait 40 100 wait
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
)"});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_DOUBLE_EQ(section->partners_unknown, 1);
}

TEST(WhatIf, PartnersThatWereRecordedAreNotCalledMissing) {
  const auto section = what_if_of(Replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 100 step index=0
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
1 step 0 100 step index=0
1 comm 40 100 allreduce group=dp seq=7 enqueued=40 on=main
)"});
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_FALSE(section->doubts.empty());
  EXPECT_EQ(section->doubts[0],
            "The partners of 2 operations were not found. The measured ends of such operations are kept, so a change "
            "may save more than predicted.");
}

// Kernels follow their launches after 20, 10 and 20 ns: the median of the delays is above their mean.
TEST(WhatIf, IsNeverLongerThanWhatWasRecorded) {
  const auto section = what_if_of(Replayed{R"(
@lane 0 main kind=thread number=1
@lane 0 s7 kind=stream number=7 device=0
0 step 0 100 step index=0 lane=main
0 step 100 190 step index=1 lane=main
0 step 190 290 step index=2 lane=main
0 runtime 0 1 cudaLaunchKernel lane=main
0 runtime 100 101 cudaLaunchKernel lane=main
0 runtime 190 191 cudaLaunchKernel lane=main
0 compute 20 100 gemm lane=s7
0 compute 110 190 gemm lane=s7
0 compute 210 290 gemm lane=s7
0 runtime 2 100 cudaDeviceSynchronize lane=main
0 runtime 102 190 cudaDeviceSynchronize lane=main
0 runtime 192 290 cudaDeviceSynchronize lane=main
@link launch 3 6
@link launch 4 7
@link launch 5 8
)"});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->replayed_ns, 290 / 3);
  EXPECT_LE(section->ideal_ns, section->replayed_ns);
  EXPECT_LE(section->without_host_delay_ns, section->replayed_ns);
  EXPECT_GE(section->slowdown.value_or(1), 1);
}

TEST(WhatIf, WorkThatNoPeerDoesIsSavedByARankLikeItsPeers) {
  const auto section = what_if_of(Replayed{with_extra_work(4, "")});
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->ranks.size(), 4U);
  EXPECT_EQ(section->ranks[2].without_rank_ns, 60);
  EXPECT_EQ(section->ranks[2].alone_ns, 30);
  EXPECT_EQ(section->ranks[2].kept_ns, 0);
  EXPECT_EQ(section->ranks[0].alone_ns, 0);
  EXPECT_FALSE(section->slowdown) << "its share of even work is not known";
  EXPECT_FALSE(section->ideal_ns);
  EXPECT_EQ(section->why_no_ideal, "rank 2 does work that none of its peers does; this work takes 33 % of a step");
  ASSERT_FALSE(section->doubts.empty());
  EXPECT_THAT(section->doubts.back(), HasSubstr("33 % of a step"));
}

TEST(WhatIf, WorkUnderAnotherNameIsNotSaved) {
  const auto section = what_if_of(Replayed{with_extra_work(4, "usual")});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->ranks[2].without_rank_ns, section->replayed_ns);
  EXPECT_EQ(section->ranks[2].alone_ns, 0);
  EXPECT_TRUE(section->slowdown);
}

TEST(WhatIf, OfTwoRanksNeitherIsTheOneWithUsualWork) {
  const auto section = what_if_of(Replayed{with_extra_work(2, "")});
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->ranks.size(), 2U);
  EXPECT_EQ(section->ranks[0].rank, RankId{2});
  EXPECT_FALSE(section->ranks[0].without_rank_ns);
  EXPECT_EQ(section->ranks[0].kept_ns, 30);
  EXPECT_EQ(section->ranks[0].why_unknown, "30 ns of the rank's work per step has no counterpart on its only peer");
  EXPECT_FALSE(section->slowdown);
  const nlohmann::ordered_json json = what_if_json(*section);
  EXPECT_TRUE(json.at("without_rank").empty());
  EXPECT_EQ(json.at("without_rank_unknown").at("2"), section->ranks[0].why_unknown);
}

// Before the first operation rank 3 computes 5 ns longer; after it rank 2 does 30 ns of work that rank 3 does not do.
TEST(WhatIf, APeerOfARankWhoseSavingIsUnknownIsNotOfferedInstead) {
  Report report;
  report.what_if = what_if_of(Replayed{R"(
@run clock=same_host clock_error=0
@group dp 2,3
2 step 0 115 step index=0
2 forward 0 40 forward
2 wait 40 65 wait
2 comm 40 65 allreduce group=dp seq=0 enqueued=40 on=main
2 optimizer 65 95 extra
2 wait 95 115 wait
2 comm 95 115 allreduce group=dp seq=1 enqueued=95 on=main
3 step 0 115 step index=0
3 forward 0 45 forward
3 wait 45 65 wait
3 comm 45 65 allreduce group=dp seq=0 enqueued=45 on=main
3 wait 65 115 wait
3 comm 65 115 allreduce group=dp seq=1 enqueued=65 on=main
)"});
  ASSERT_TRUE(report.what_if) << report.what_if.error().why;
  EXPECT_EQ(report.what_if->ranks[1].why_unknown,
            "the only peer does 30 ns of work per step that this rank does not do");
  for (const NotedTable& noted : what_if_tables(report, 10))
    for (const auto& row : noted.table.rows) EXPECT_THAT(row.front().text, Not(HasSubstr("as fast as its peers")));
}

TEST(WhatIf, WhereManyPartnersAreUnknownNoRankIsOffered) {
  Replayed replayed{two_ranks};
  replayed.graph->doubts.unsplit_members = 1;  // of the two members
  const auto section = what_if_of(replayed);
  ASSERT_TRUE(section) << section.error().why;
  for (const RankReplay& rank : section->ranks) {
    EXPECT_FALSE(rank.without_rank_ns);
    EXPECT_EQ(rank.why_unknown, partners_are_unknown);
  }
  EXPECT_FALSE(section->without_data_ns);
}

TEST(WhatIf, RanksAreReplayedTogether) {
  const Replayed replayed{R"(
@run clock=same_host clock_error=0
@group dp 0,1,2,3
0 step 0 100 step index=0
0 forward 0 40 forward
0 comm 40 100 allreduce group=dp seq=0 lane=main
1 step 0 100 step index=0
1 forward 0 40 forward
1 comm 40 100 allreduce group=dp seq=0 lane=main
2 step 0 100 step index=0
2 forward 0 80 forward
2 comm 80 100 allreduce group=dp seq=0 lane=main
3 step 0 100 step index=0
3 forward 0 80 forward
3 comm 80 100 allreduce group=dp seq=0 lane=main
)"};
  const ItemPeers peers{*replayed.graph, replayed.classes};
  EXPECT_EQ(replay_as_others(*replayed.graph, peers, std::vector{RankId{2}}), 100);
  EXPECT_EQ(replay_as_others(*replayed.graph, peers, std::vector{RankId{2}, RankId{3}}), 60);
}

// The operations keep their end, at 100 and 200 ns; behind it 30 and 10 ns of work follow, on average 20.
TEST(WhatIf, AnIdealThatIsLongerThanWhatWasRecordedIsNone) {
  const auto section = what_if_of(Replayed{R"(
@run world_size=2 clock=same_host
@group dp 0,1
0 step 0 130 step index=0
0 forward 0 90 forward
0 wait 90 100 wait
0 comm 90 100 allreduce group=dp seq=0 enqueued=90 on=main
0 optimizer 100 130 optimizer
0 step 130 210 step index=1
0 forward 130 140 forward
0 wait 140 200 wait
0 comm 140 200 allreduce group=dp seq=1 enqueued=140 on=main
0 optimizer 200 210 optimizer
)"});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_EQ(section->why_no_ideal,
            "with all ranks equally fast, the replayed steps would be longer than the recorded ones");
  EXPECT_FALSE(section->slowdown);
  const nlohmann::ordered_json json = what_if_json(*section);
  for (const char* key : {"slowdown", "ideal_ns", "rank_slowdowns", "kind_slowdowns", "step_slowdowns", "few_ranks"}) {
    EXPECT_TRUE(json.at(key).is_null()) << key;
    EXPECT_EQ(json.at("why").at(key), section->why_no_ideal) << key;
  }
}

TEST(WhatIf, OfARankWithoutPeersIsNotTold) {
  Replayed replayed{two_ranks};
  replayed.classes = {0, 1};
  const auto section = what_if_of(replayed);
  ASSERT_TRUE(section);
  for (const RankReplay& rank : section->ranks) EXPECT_FALSE(rank.without_rank_ns) << rank.rank.value;
  EXPECT_FALSE(section->any_peers);
  EXPECT_TRUE(section->several_classes);
}

/// All text of the table, row by row, and of its notes.
std::string text_of(const WhatIfSection& section) {
  Report report;
  report.what_if = section;
  std::string text;
  for (const NotedTable& noted : what_if_tables(report, 10)) {
    for (const auto& row : noted.table.rows) text += row.front().text + "\n";
    for (const std::string& note : noted.notes) text += note + "\n";
  }
  return text;
}

TEST(WhatIf, SaysBetweenWhomWorkIsEvenedOut) {
  EXPECT_THAT(text_of(*what_if_of(Replayed{two_ranks})),
              AllOf(HasSubstr("no imbalance between peers and between steps\n"), Not(HasSubstr("Only peers"))));
  Replayed stages{two_ranks};
  stages.classes = {0, 1};
  const std::string text = text_of(*what_if_of(stages));
  EXPECT_THAT(text, HasSubstr("no imbalance between steps\n"));
  EXPECT_THAT(text, HasSubstr("No two ranks do equal work, so ranks are not compared with each other: the differences "
                              "between them remain.\n"));
  EXPECT_THAT(text, Not(HasSubstr("stage")));
}

TEST(WhatIf, TellsTheLastStageAndTheHostsApart) {
  const auto section = what_if_of(Replayed{two_stages()});
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_DOUBLE_EQ(section->last_stage.value(), 1);
  EXPECT_EQ(section->even_last_stage_ns, 80) << "60 of compute, 20 of transfer";
  EXPECT_THAT(text_of(*section), HasSubstr("last stage with the mean compute of all stages\n"));
  ASSERT_EQ(section->hosts.size(), 2U);
  EXPECT_EQ(section->hosts[0].name, "b");
  EXPECT_DOUBLE_EQ(section->hosts[0].slowdown, 1.25);
  EXPECT_DOUBLE_EQ(section->hosts[1].slowdown, 1);
}

TEST(WhatIf, IsRefusedWhereTheReplayMissesWhatWasMeasured) {
  Replayed replayed{two_ranks};
  replayed.graph->steps[0].measured_ns = 106;
  const auto section = what_if_of(replayed);
  ASSERT_FALSE(section);
  EXPECT_THAT(section.error().why, HasSubstr("differs from the measured time by 6 %"));
  replayed.graph->steps[0].measured_ns = 104;
  EXPECT_TRUE(what_if_of(replayed));
}

}  // namespace
}  // namespace rankscope::analyzer::replay
