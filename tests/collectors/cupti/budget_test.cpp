// What recording calls may cost, and what is left out beyond that.
#include "inject/cupti/budget.h"

#include <gmock/gmock.h>

#include <limits>

#include "cupti/play.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using inject::cupti::Budget;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t one_second_ns = 1'000'000'000;

/// A program of one thread, second by second.
class TimedProgram {
 public:
  explicit TimedProgram(double share, int seconds = 2) { budget_.begin(share, seconds, 0); }
  /// So many calls in a second, and a wait of so long. True: that is too much from now on.
  bool runs(int calls, std::int64_t waited_ns = 0) {
    for (int i = 0; i < calls; ++i) budget_.called(7, 0, 2'000);
    if (waited_ns > 0) budget_.called(7, 0, waited_ns);
    return budget_.is_exceeded(now_ += one_second_ns);
  }
  [[nodiscard]] const Budget& budget() const { return budget_; }

 private:
  Budget budget_;
  std::int64_t now_ = 0;
};

TEST(CuptiBudget, SecondsThatCostMoreOneBehindTheOtherAreTooMuch) {
  TimedProgram dense{0.01};
  EXPECT_FALSE(dense.runs(100'000)) << "one may be the start of the program";
  EXPECT_TRUE(dense.runs(100'000));
  EXPECT_NEAR(dense.budget().last_share(), 1.0 / 9, 0.001) << "a tenth of the time that there was";
  EXPECT_FALSE(dense.runs(100'000)) << "said once";
}

TEST(CuptiBudget, ASecondThatCostsLittleBeginsTheCountAnew) {
  TimedProgram dense{0.01};
  EXPECT_FALSE(dense.runs(100'000));
  EXPECT_FALSE(dense.runs(5'000)) << "half of what is allowed";
  EXPECT_FALSE(dense.runs(100'000));
  EXPECT_TRUE(dense.runs(100'000));
}

TEST(CuptiBudget, WhatAThreadPaysWhileItWouldWaitForTheGpuMakesNoStepLonger) {
  TimedProgram dense{0.01};
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(dense.runs(100'000, 150'000'000));
  EXPECT_FALSE(dense.runs(100'000, 20'000'000));
  EXPECT_TRUE(dense.runs(100'000, 20'000'000)) << "it waits for less than it pays";
}

TEST(CuptiBudget, ItIsTheThreadThatPaysMostAndNotTheSum) {
  Budget budget;
  budget.begin(0.01, 1, 0);
  for (std::int64_t thread = 1; thread <= 20; ++thread)
    for (int i = 0; i < 5'000; ++i) budget.called(thread, 0, 2'000);
  EXPECT_FALSE(budget.is_exceeded(one_second_ns)) << "half of a hundredth each";
}

TEST(CuptiBudget, DamagedTimesAreNoWaits) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  Budget budget;
  budget.begin(0.01, 2, 0);
  for (int i = 0; i < 50'000; ++i) budget.called(7, 0, 2'000);
  for (int i = 0; i < 3; ++i) budget.called(7, 0, most);
  EXPECT_FALSE(budget.is_exceeded(one_second_ns));
  EXPECT_EQ(budget.last_share(), 0.0) << "waits, however long, do not overflow their sum";
  for (int i = 0; i < 50'000; ++i) budget.called(7, 0, 2'000);
  budget.called(7, least, most);
  budget.called(7, most, least);
  budget.called(7, -1, most);
  EXPECT_FALSE(budget.is_exceeded(2 * one_second_ns));
  EXPECT_NEAR(budget.last_share(), 0.05, 0.005) << "no wait";
}

TEST(CuptiBudget, WithoutALimitNothingIsTooMuch) {
  TimedProgram dense{0};
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(dense.runs(900'000));
}

Recorded play_dense(const Folder& folder, const std::string& budget, const std::string& version = "130001") {
  const Variable after{"RANKSCOPE_BUDGET_AFTER_S", "2"};
  RecordOptions options;
  options.budget = budget;
  options.ring_kib = 64 * 1024;
  return play(folder, budget == "off" ? "dense without end" : "dense", {.version = version}, options);
}

TEST(CuptiBudget, OfAProgramThatOnlyLaunchesTheCallsAreLeftOutAndThatIsSaid) {
  const Folder folder;
  const Recorded recorded = play_dense(folder, "1%");
  EXPECT_EQ(recorded.status, 0) << "kernels and the launches of NCCL are still taken, other calls are not";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::calls_thinned), 1U);
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_budget")},
              AllOf(HasSubstr("--budget allows 1 %"), HasSubstr("only the calls with which NCCL launches kernels")));
  EXPECT_EQ(spans_named(*recorded.run, "cuLaunchKernel"), 1U);
  EXPECT_EQ(spans_named(*recorded.run, "after"), 1U) << "a kernel";
}

TEST(CuptiBudget, WithoutALimitAllCallsStay) {
  const Folder folder;
  const Recorded recorded = play_dense(folder, "off");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::calls_thinned), 0U);
}

TEST(CuptiBudget, AVersionThatCannotLeaveOutCallsIsSaid) {
  const Folder folder;
  const Variable after{"RANKSCOPE_BUDGET_AFTER_S", "1"};
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_old_standin.so")};
  RecordOptions options{.command = {program("cupti_actor"), "dense without end"}};
  options.collect = "annotate,cupti";
  options.ring_kib = 64 * 1024;
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_budget")}, HasSubstr("cannot leave out individual calls"));
  EXPECT_EQ(lost(*recorded.run, Counter::calls_thinned), 0U);
}

}  // namespace
}  // namespace rankscope::collectors
