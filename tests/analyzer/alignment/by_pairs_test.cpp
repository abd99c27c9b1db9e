#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "alignment/align.h"
#include "alignment/aligned_run.h"
#include "analyzer/alignment/traced_pipeline.h"
#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make;
using testing::run_of;
using testing::TracedPipeline;

/// The calls whose partner is not the neighbour that 1F1B sends to, or receives from.
std::size_t wrong_partners(const Run& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.collectives(), [&](const Collective& call) {
    return std::abs(call.peer - static_cast<std::int64_t>(call.rank.value)) != 1;
  }));
}

/// Operations whose receive ends before its send began.
std::size_t broken_pairs(const Run& run, const CollectivesSection& section) {
  return static_cast<std::size_t>(std::ranges::count_if(section.operations, [&](const Operation& operation) {
    const auto part = [&](std::size_t member) { return run.collectives()[operation.members[member]]; };
    const std::size_t send = run.text(part(0).op) == "send" ? 0 : 1;
    return part(1 - send).finished < part(send).started;
  }));
}

TracedPipeline slow_stage(std::uint32_t slow, std::int64_t steps = 3) {
  TracedPipeline plan{.steps = steps};
  plan.sleep_ns = [slow](std::uint32_t rank) { return rank == slow ? 22'500'000 : 12'500'000; };
  return plan;
}

TEST(PairsFoundByTimes, AreThoseOfThePipeline) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TracedPipeline plan = seed % 2 == 0 ? TracedPipeline{} : slow_stage(seed % 4);
    plan.seed = seed;
    const auto run = make(plan);
    const TimeMatching found = match_pairs(*run);
    ASSERT_NE(found.run, nullptr) << seed << ' ' << found.note;
    EXPECT_EQ(wrong_partners(*found.run), 0U) << seed;
    const Matching matching = match_collectives(*found.run, ClockTrust{*found.run});
    ASSERT_TRUE(matching.section);
    EXPECT_EQ(matching.section->matched, 3 * 48);
    EXPECT_EQ(matching.section->unmatched, 0);
    EXPECT_EQ(broken_pairs(*found.run, *matching.section), 0U) << seed;
    EXPECT_EQ(matching.section->key, "times of sends and receives (the recording names no partners)");
    EXPECT_THAT(matching.section->matched_by, ElementsAre(0, 0, 3 * 48));
  }
}

TEST(PairsFoundByTimes, AreExplainedInANote) {
  const TimeMatching found = match_pairs(*make(TracedPipeline{}));
  EXPECT_THAT(found.note, AllOf(HasSubstr("144 of 144 sends and receives were matched by their times"),
                                HasSubstr("ended within 1 ms of that start")));
}

TEST(PairsFoundByTimes, OfASlowStageNameIt) {
  const Report report = analyze(*make(slow_stage(2)), {});
  ASSERT_TRUE(report.stragglers);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2});
  EXPECT_EQ(report.stragglers->rows[0].kind, StragglerKind::host);
}

TEST(PairsFoundByTimes, OfAStageThatComputesLongerSaySo) {
  TracedPipeline plan;
  plan.compute_ns = [](std::uint32_t rank) { return rank == 2 ? 10'300'000 : 300'000; };
  const Report report = analyze(*make(plan), {});
  ASSERT_TRUE(report.stragglers);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2});
  EXPECT_EQ(report.stragglers->rows[0].kind, StragglerKind::compute);
}

TEST(PairsFoundByTimes, OfEqualStagesNameNobody) {
  for (const std::int64_t steps : {3, 20}) {
    const Report report = analyze(*make(TracedPipeline{.steps = steps}), {});
    ASSERT_TRUE(report.stragglers);
    EXPECT_THAT(report.stragglers->rows, IsEmpty());
    ASSERT_TRUE(report.collectives);
    EXPECT_EQ(report.collectives->unmatched, 0);
  }
}

TEST(PairsFoundByTimes, AreNotConcludedIfReceivesEndBeforeSendsBegin) {
  TracedPipeline plan = slow_stage(2);
  plan.offsets_ns = {0, 0, 400'000, 0};  // as NTP leaves two hosts
  plan.latency_ns = 20'000;
  plan.most_late_ns = 100'000;
  const TimeMatching found = match_pairs(*make(plan));
  EXPECT_EQ(found.run, nullptr);
  EXPECT_THAT(found.note, HasSubstr("times of these calls do not show this either"));
}

TEST(PairsFoundByTimes, NeedAsManySendsAsReceives) {
  std::string text = text_of(TracedPipeline{});
  text.erase(text.rfind("\n3 comm ") + 1, text.find('\n', text.rfind("\n3 comm ") + 1) - text.rfind("\n3 comm "));
  const TimeMatching found = match_pairs(*run_of(text));
  ASSERT_NE(found.run, nullptr) << "the other steps are complete: " << found.note;
  EXPECT_THAT(found.note, HasSubstr("96 of 143"));
}

TEST(PairsFoundByTimes, AreNotConcludedIfARankIsMissing) {
  std::string text;
  const std::string all = text_of(TracedPipeline{});
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\n', begin) + 1;
    const std::string line = all.substr(begin, end - begin);
    if (!line.starts_with("3 ") && !line.starts_with("@rank 3") && !line.starts_with("@lane 3")) text += line;
    begin = end;
  }
  const TimeMatching found = match_pairs(*run_of(text));
  EXPECT_EQ(found.run, nullptr);
  EXPECT_THAT(found.note,
              AllOf(HasSubstr("the times of these calls do not show this either: in the best assignment found, "
                              "only 0 of the "),
                    HasSubstr("ended within 100 µs of that start")));
  text.replace(text.find("@run "), 5, "@run world_size=4 ");
  EXPECT_THAT(match_pairs(*run_of(text)).note, HasSubstr("only 3 of 4 ranks were recorded"));
}

/// Four ranks that send and receive at random times: nothing belongs together.
std::string unrelated_calls(std::uint64_t seed) {
  std::mt19937_64 dice{seed};
  std::string text = "@run clock=wall_clock clock_error=10000000 source=kineto\n";
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    text += format("@rank {0}\n@lane {0} main kind=thread number=1\n", rank);
  text += "@group dp 0,1,2,3\n";
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    for (std::int64_t step = 0; step < 3; ++step) {
      std::int64_t now = step * 400'000'000;
      text += format("{0} step {1} {2} ProfilerStep#{3} index={3} lane=main\n", rank, now, now + 400'000'000, step);
      for (int i = 0; i < 12; ++i) {
        const auto length = static_cast<std::int64_t>(1'000'000 + dice() % 28'000'000);
        text += format("{} comm {} {} gloo:{} group=dp seq=-1 op={} lane=main\n", rank, now + 100'000, now + length,
                       i % 2 == 0 ? "send" : "recv", i % 2 == 0 ? "send" : "recv");
        now += length;
      }
    }
  }
  return text;
}

TEST(PairsFoundByTimes, AreNotConcludedFromUnrelatedCalls) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TimeMatching found = match_pairs(*run_of(unrelated_calls(seed)));
    EXPECT_EQ(found.run, nullptr) << seed << ' ' << found.note;
  }
}

TEST(PairsFoundByTimes, AreNotLookedForIfPartnersAreKnown) {
  const auto run = run_of(
      "@run clock=same_host clock_error=1000\n@rank 0\n@rank 1\n@group dp 0,1\n"
      "0 comm 0 100 send group=dp peer=1 lane=main\n1 comm 0 100 recv group=dp peer=0 lane=main\n"
      "0 op 100 200 work\n1 op 100 200 work\n");
  const TimeMatching found = match_pairs(*run);
  EXPECT_EQ(found.run, nullptr);
  EXPECT_EQ(found.note, "");
}

TEST(CallsWithoutPartners, AreNotSaidToHavePartnersThatWereNotRecorded) {
  const Report report = analyze(*run_of(unrelated_calls(1)), {});
  ASSERT_TRUE(report.collectives);
  EXPECT_FALSE(report.collectives->unmatched_parts.empty());
  for (const UnmatchedParts& parts : report.collectives->unmatched_parts)
    EXPECT_EQ(parts.why, "the recording does not say which rank was the partner");
}

}  // namespace
}  // namespace rankscope::analyzer
