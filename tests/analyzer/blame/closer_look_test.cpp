// The split of any stretch of time and the waits of members agree with the report.
#include "rankscope/analyzer/blame/closer_look.h"

#include <gtest/gtest.h>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "support/synthetic_recording.h"

namespace rankscope::analyzer {
namespace {

constexpr auto go_on = [] { return false; };

TEST(CloserLook, OfAStepIsWhatTheReportSaysOfIt) {
  const auto run =
      testing::recorded({.ranks = 2, .steps = 4, .faults = {synthetic::fault_from("slow:rank=1,factor=2")}});
  const Report report = analyze(*run, {});
  const auto split = CloserLook::at(*run, go_on);
  for (const RankRow& row : *report.rank_rows) {
    TimeSplit sum;
    for (const StepWindow& step : report.steps->windows)
      if (step.rank == row.rank && report.steps->counted(step.index)) sum += split->split(row.rank, step.window);
    EXPECT_EQ(sum, row.total) << "rank " << row.rank.value;
  }
}

TEST(CloserLook, OfHalfASpanIsHalfOfItAndTheRestIsIdle) {
  const auto run = *run_from_text("0 compute 0 60 gemm\n0 memory 80 100 copy\n");
  const TimeSplit split = CloserLook::at(*run, go_on)->split(RankId{0}, {at(30), at(90)});
  EXPECT_EQ(split.window_ns, 60);
  EXPECT_EQ(split.compute_ns, 30);
  EXPECT_EQ(split.memory_ns, 10);
  EXPECT_EQ(split.idle_ns, 20);
}

TEST(CloserLook, OfAnUnknownRankOrOfNoTimeIsEmpty) {
  const auto run = *run_from_text("0 compute 0 60 gemm\n");
  const auto split = CloserLook::at(*run, go_on);
  EXPECT_EQ(split->split(RankId{7}, {at(0), at(10)}), TimeSplit{});
  EXPECT_EQ(split->split(RankId{0}, {at(10), at(10)}), TimeSplit{});
}

TEST(CloserLook, WaitsOfMembersAddUpToThoseOfTheOperationAndTheLastOneWaitsForNobody) {
  const auto run =
      testing::recorded({.ranks = 4, .steps = 4, .faults = {synthetic::fault_from("slow:rank=2,factor=2")}});
  const Report report = analyze(*run, {});
  const auto look = CloserLook::at(*run, go_on);
  ASSERT_FALSE(report.collectives->operations.empty());
  for (const Operation& operation : report.collectives->operations) {
    if (!operation.why_no_wait.empty()) continue;
    std::int64_t sum = 0;
    for (const std::uint32_t row : operation.members) sum += look->wait_of(row)->wait_ns;
    EXPECT_EQ(sum, operation.wait_ns);
    if (!operation.last_rank.is_set()) continue;
    const auto last_to_arrive = look->wait_of(operation.members.front())->last_to_arrive;
    EXPECT_EQ(run->collectives()[last_to_arrive].rank, operation.last_rank);
    EXPECT_EQ(look->wait_of(last_to_arrive)->wait_ns, 0);
  }
}

TEST(CloserLook, IsNotMadeOnceItIsStopped) {
  EXPECT_EQ(CloserLook::at(*(*run_from_text("0 compute 0 60 gemm\n")), [] { return true; }), nullptr);
}

}  // namespace
}  // namespace rankscope::analyzer
