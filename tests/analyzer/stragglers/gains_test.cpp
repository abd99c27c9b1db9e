#include "stragglers/gains.h"

#include <gtest/gtest.h>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

/// Rank 2, critical by its slowdown, after the replay of steps of 100 ns.
Straggler replayed(const Section<WhatIfSection>& replay, Straggler row) {
  StepsSection steps;
  steps.mean_ns = 100;
  row.rank = RankId{2};
  row.severity = FindingSeverity::critical;
  StragglersSection section;
  section.rows = {std::move(row)};
  set_replayed_gains(replay, steps, section);
  return section.rows[0];
}

/// It measured a gain of half a step.
Straggler with_gain_of(const Section<WhatIfSection>& replay) {
  Straggler row;
  row.gain_ns_per_step = 50;
  return replayed(replay, std::move(row));
}

WhatIfSection replay_without_rank_2(std::int64_t without_ns) {
  WhatIfSection replay;
  replay.replayed_ns = 100;
  replay.ranks.push_back({.rank = RankId{2}, .without_rank_ns = without_ns});
  return replay;
}

TEST(StragglerGains, GainWhatTheReplaySaves) {
  const Straggler row = with_gain_of(replay_without_rank_2(70));
  EXPECT_EQ(row.gain_ns_per_step, 30);
  EXPECT_EQ(row.why_no_gain, "");
  EXPECT_EQ(row.severity, FindingSeverity::critical);
}

TEST(StragglerGains, OfTheStepsInWhichTheyAreSlowLeaveOutWhatIsSavedInOthers) {
  WhatIfSection replay = replay_without_rank_2(70);
  replay.first_step = 4;
  replay.ranks[0].saved_ns = {20, 20, 40, 40};  // of steps 4 to 7
  Straggler row;
  row.since_step = 6;
  row.slow_steps = 2;
  row = replayed(replay, std::move(row));
  EXPECT_EQ(row.gain_ns_per_step, 30);
  EXPECT_EQ(row.gain_ns_while_slow, 40);
}

TEST(StragglerGains, ThatCostTheJobNextToNothingAreNotCritical) {
  const Straggler row = with_gain_of(replay_without_rank_2(99));
  EXPECT_EQ(row.gain_ns_per_step, 1);
  EXPECT_EQ(row.severity, FindingSeverity::major);
}

TEST(StragglerGains, HaveNoGainAndAreNotCriticalWithoutAReplayThatCanBeUsed) {
  WhatIfSection partners_missing = replay_without_rank_2(70);
  partners_missing.partners_unknown = 0.5;
  WhatIfSection of_others = replay_without_rank_2(70);
  of_others.ranks[0].rank = RankId{1};
  for (const Section<WhatIfSection>& replay :
       {Section<WhatIfSection>{partners_missing}, Section<WhatIfSection>{of_others},
        Section<WhatIfSection>{unavailable("the clocks of the ranks cannot be compared")}}) {
    const Straggler row = with_gain_of(replay);
    EXPECT_EQ(row.gain_ns_per_step, 0);
    EXPECT_NE(row.why_no_gain, "");
    EXPECT_EQ(row.severity, FindingSeverity::major);
  }
}

TEST(StragglerGains, HaveNoKnownGainWhereTheirWorkHasNoCounterpart) {
  WhatIfSection replay = replay_without_rank_2(100);
  replay.ranks[0].without_rank_ns.reset();
  replay.ranks[0].why_unknown = "40 ns of the rank's work per step has no counterpart on its only peer";
  const Straggler row = with_gain_of(replay);
  EXPECT_EQ(row.why_no_gain, replay.ranks[0].why_unknown);
  EXPECT_EQ(row.gain_ns_per_step, 0);
}

TEST(StragglerGains, StragglersOfWhichOneAloneSavesNothingAreAsSevereAsTheyAreTogether) {
  Straggler row;
  row.together = GainTogether{{RankId{2}, RankId{3}}, 40};
  row = replayed(replay_without_rank_2(100), std::move(row));
  EXPECT_EQ(row.gain_ns_per_step, 0);
  EXPECT_EQ(row.severity, FindingSeverity::critical);
}

}  // namespace
}  // namespace rankscope::analyzer
