#include "rankscope/trainer/options/fault.h"

#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

using std::chrono::milliseconds;

TEST(Fault, EveryKindReadsBackFromItsOwnText) {
  for (const char* text :
       {"slow:rank=2,factor=1.5", "data:rank=1,ms=30,every=1", "pause:rank=3,ms=200,every=10", "comm:rank=0,ms=20.5",
        "exit:rank=1,step=5", "kill:rank=1,step=0", "slow:rank=0,factor=2,step=7"}) {
    const auto fault = parse_fault(text);
    if (std::string_view{text}.starts_with("data")) {
      EXPECT_FALSE(fault) << "every is not a key of data";
      continue;
    }
    ASSERT_TRUE(fault) << fault.error().message;
    EXPECT_EQ(fault_text(*fault), text);
    EXPECT_EQ(parse_fault(fault_text(*fault)), fault);
  }
}

TEST(Fault, WrongTextIsRefusedWithTheFormThatIsMeant) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "unknown kind"},
      {"freeze:rank=1", "unknown kind"},
      {"hang:rank=1", "step= is missing"},
      {"slow", "rank= is missing"},
      {"slow:", "rank= is missing"},
      {"slow:rank=1", "factor= is missing"},
      {"slow:rank=1,factor=", "factor must be a number from 1 to 1000 (is empty)"},
      {"slow:rank=1,factor=0.5", "from 1 to 1000 (is \"0.5\")"},
      {"slow:rank=1,factor=nan", "must be a number"},
      {"slow:rank=1,factor=1e300", "from 1 to 1000"},
      {"slow:rank=1.5,factor=2", "whole number"},
      {"slow:rank=-1,factor=2", "must be a whole number from 0 to 1000000"},
      {"slow:rank=1,rank=2,factor=2", "twice"},
      {"slow:rank=1,factor=2,", "key=value"},
      {"slow:rank=1,ms=2", "not a key of slow"},
      {"exit:rank=1", "step= is missing"},
  };
  for (const auto& c : cases) {
    const auto fault = parse_fault(c.text);
    ASSERT_FALSE(fault) << c.text;
    EXPECT_EQ(fault.error().kind, ErrorKind::usage);
    EXPECT_NE(fault.error().message.find(c.says), std::string::npos) << fault.error().message;
    EXPECT_NE(fault.error().message.find(":rank=R"), std::string::npos)
        << "the form is shown: " << fault.error().message;
  }
}

FaultPlan plan_of(const char* text, int rank) {
  const Fault fault = parse_fault(text).value();
  return {std::span{&fault, 1}, rank};
}

TEST(FaultPlan, OnlyTheNamedRankActs) {
  EXPECT_EQ(plan_of("slow:rank=2,factor=1.5", 2).compute_factor(0), 1.5);
  EXPECT_EQ(plan_of("slow:rank=2,factor=1.5", 1).compute_factor(0), 1.0);
  EXPECT_EQ(plan_of("comm:rank=2,ms=20", 2).comm_delay(3), milliseconds{20});
  EXPECT_EQ(plan_of("comm:rank=2,ms=20", 0).comm_delay(3), milliseconds{0});
}

TEST(FaultPlan, APauseComesOnceInEachPeriodAndNotInTheFirstStep) {
  const FaultPlan plan = plan_of("pause:rank=0,ms=200,every=10", 0);
  std::vector<std::int64_t> paused;
  for (std::int64_t step = 0; step < 20; ++step) {
    if (plan.pause(step) > milliseconds{0}) paused.push_back(step);
  }
  EXPECT_EQ(paused, (std::vector<std::int64_t>{5, 15}));
}

TEST(FaultPlan, WhatEndsOrDamagesARankHappensOnce) {
  for (const FaultKind kind : {FaultKind::exit, FaultKind::kill, FaultKind::hang, FaultKind::nan, FaultKind::corrupt})
    EXPECT_TRUE(happens_once(kind));
  for (const FaultKind kind : {FaultKind::slow, FaultKind::data, FaultKind::pause, FaultKind::comm})
    EXPECT_FALSE(happens_once(kind));
  EXPECT_TRUE(plan_of("hang:rank=1,step=5", 1).happens(FaultKind::hang, 5));
  EXPECT_TRUE(plan_of("nan:rank=1,step=5", 1).happens(FaultKind::nan, 5));
  EXPECT_FALSE(plan_of("corrupt:rank=1,step=5", 0).happens(FaultKind::corrupt, 5));
}

TEST(FaultPlan, ExitAndKillActInTheirStepOnly) {
  EXPECT_TRUE(plan_of("exit:rank=1,step=5", 1).happens(FaultKind::exit, 5));
  EXPECT_FALSE(plan_of("exit:rank=1,step=5", 1).happens(FaultKind::exit, 4));
  EXPECT_FALSE(plan_of("exit:rank=1,step=5", 1).happens(FaultKind::kill, 5));
  EXPECT_TRUE(plan_of("kill:rank=1,step=0", 1).happens(FaultKind::kill, 0));
}

TEST(FaultPlan, AFaultMayBeginLater) {
  const FaultPlan plan = plan_of("slow:rank=0,factor=2,step=7", 0);
  EXPECT_EQ(plan.compute_factor(6), 1.0);
  EXPECT_EQ(plan.compute_factor(7), 2.0);
}

TEST(Fault, ActsFirstInTheMiddleOfItsFirstPeriod) {
  const auto first = [](const char* text) { return first_step_of(*parse_fault(text)); };
  EXPECT_EQ(first("slow:rank=0,factor=2,step=3"), 3);
  EXPECT_EQ(first("pause:rank=0,ms=1,every=10"), 5);
  EXPECT_EQ(first("pause:rank=0,ms=1,every=10,step=5"), 5);
  EXPECT_EQ(first("pause:rank=0,ms=1,every=10,step=6"), 15);
  for (const char* text : {"data:rank=0,ms=1", "pause:rank=0,ms=1,every=7,step=9", "comm:rank=0,ms=1,step=2"}) {
    const Fault fault = *parse_fault(text);
    const FaultPlan plan{{&fault, 1}, 0};
    std::int64_t step = 0;
    while ((plan.data_delay(step) + plan.pause(step) + plan.comm_delay(step)).count() == 0) ++step;
    EXPECT_EQ(first_step_of(fault), step) << text;
  }
}

}  // namespace
}  // namespace rankscope::trainer
