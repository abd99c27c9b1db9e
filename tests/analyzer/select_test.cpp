#include "rankscope/analyzer/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;

const std::string three_steps =
    "@rank 0 pid=1 meta.device=cpu\n@rank 1 pid=2\n@process - pid=9\n@group dp 0,1\n"
    "0 step 0 100 s index=0\n0 step 100 200 s index=1\n0 step 200 300 s index=2\n"
    "1 step 10 110 s index=0\n1 step 110 210 s index=1\n1 step 210 310 s index=2\n"
    "0 op 20 30 a0\n0 op 120 130 a1 k=1 j=@\"[1]\" t=x\n0 op 220 230 a2\n1 op 20 30 b0\n1 op 120 130 b1\n- op 115 118 "
    "c\n"
    "0 comm 90 150 allreduce group=dp seq=0\n1 comm 140 150 allreduce group=dp seq=0\n1 comm 250 260 allreduce "
    "group=dp seq=1\n"
    "0 runtime 131 132 launch\n0 compute 133 160 kernel\n@link launch 15 16\n"
    "0 mark 125 here m=1\n0 mark 5 early\n0 counter 50 1 rss_bytes\n0 counter 150 2 rss_bytes\n";

std::shared_ptr<const Run> whole() {
  const auto run = run_from_text(three_steps);
  EXPECT_TRUE(run) << run.error().message;
  return *run;
}

std::vector<std::string> names(const Run& run) {
  std::vector<std::string> found;
  for (const Span& span : run.spans())
    if (span.kind == SpanKind::op) found.emplace_back(run.text(span.name));
  return found;
}

TEST(Select, WithoutLimitsItIsTheSameRun) {
  const auto run = whole();
  EXPECT_EQ(*select(run, {}), run);
}

TEST(Select, OnlyTheProcessesOfTheChosenRanksStay) {
  const auto part = *select(whole(), {.steps = {}, .ranks = {RankId{1}}});
  EXPECT_THAT(names(*part), ElementsAre("b0", "b1"));
  EXPECT_THAT(part->ranks(), ElementsAre(RankId{1}));
  EXPECT_EQ(part->collectives().size(), 2U);
  EXPECT_EQ(part->groups().front().members.size(), 2U);
}

TEST(Select, OnlyWhatTouchesTheTimeStays) {
  const auto part = *select(whole(), {.steps = {}, .ranks = {RankId{0}}, .time = TimeRange{at(125), at(225)}});
  EXPECT_THAT(names(*part), ElementsAre("a1", "a2"));
  EXPECT_EQ(part->collectives().size(), 1U);
  EXPECT_EQ(part->marks().size(), 1U);
  EXPECT_EQ(part->samples().size(), 1U);
}

TEST(Select, OnlyWhatTouchesTheStepOfItsRankStays) {
  const auto part = *select(whole(), {.steps = std::pair{1, 1}, .ranks = {}});
  EXPECT_THAT(names(*part), ElementsAre("a1", "b1", "c"));
  EXPECT_EQ(part->collectives().size(), 2U);
  EXPECT_EQ(part->links().size(), 1U);
  EXPECT_EQ(part->marks().size(), 1U);
  EXPECT_EQ(part->samples().size(), 1U);
}

TEST(Select, WhatStaysIsUnchanged) {
  const auto run = whole();
  std::ostringstream before;
  std::ostringstream after;
  write_text(*run, before);
  const auto part = select(run, {.steps = std::pair{0, 2}, .ranks = {}});
  ASSERT_TRUE(part);
  write_text(**part, after);
  EXPECT_EQ(before.str(), after.str());
}

TEST(Select, ARankOrStepThatIsNotThereIsNamed) {
  const auto rank = select(whole(), {.steps = {}, .ranks = {RankId{7}}});
  ASSERT_FALSE(rank);
  EXPECT_EQ(rank.error().kind, ErrorKind::usage);
  EXPECT_EQ(rank.error().message, "--ranks: the recording has no rank 7; its ranks are 0 to 1");
  const auto step = select(whole(), {.steps = std::pair{5, 9}, .ranks = {}});
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().message, "--steps: the recording does not have steps 5 to 9, only steps 0 to 2");
  const auto none = select(*run_from_text("0 op 0 1 a\n"), {.steps = std::pair{0, 1}, .ranks = {}});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--steps cannot be used with this recording: no step"), std::string::npos);
}

}  // namespace
}  // namespace rankscope::analyzer
