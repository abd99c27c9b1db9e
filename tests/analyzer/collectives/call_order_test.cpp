// Collectives that name their group and not their place in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "alignment/aligned_run.h"
#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two ranks; in each step of 100 ms as many operations as are given for that rank.
Matching matched(const std::vector<int>& rank_0, const std::vector<int>& rank_1, bool marked = true) {
  std::string text = "@run clock=same_host\n@group dp 0,1\n";
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<int>& calls = rank == 0 ? rank_0 : rank_1;
    for (std::size_t step = 0; step < calls.size(); ++step) {
      const std::int64_t begin = 100'000'000LL * static_cast<std::int64_t>(step);
      if (marked) text += format("{} step {} {} step index={}\n", rank, begin, begin + 100'000'000, step);
      for (int call = 0; call < calls[step]; ++call)
        text += format("{} comm {} {} allreduce group=dp seq=-1\n", rank, begin + 10'000'000LL * (call + 1),
                       begin + 10'000'000LL * (call + 1) + 5'000'000);
    }
  }
  const auto run = testing::run_of(text);
  const AlignedRun aligned{*run};
  return match_collectives(aligned.run(), aligned.clocks());
}

TEST(CallOrder, BeginsAnewInEachStep) {
  const Matching matching = matched({2, 2, 3}, {2, 1, 3});
  ASSERT_TRUE(matching.section);
  EXPECT_THAT(matching.section->key, HasSubstr("call order in each step"));
  EXPECT_EQ(matching.section->matched, 10) << "all but step 1";
  EXPECT_EQ(matching.section->unmatched, 3);
  EXPECT_THAT(matching.section->matched_by, ElementsAre(0, 10, 0));
  for (const Operation& operation : matching.section->operations)
    EXPECT_EQ(operation.spread_ns, 0) << "members of one step, or one member";
}

TEST(CallOrder, IsThatOfTheRankWhereStepsAreNotMarked) {
  const Matching matching = matched({2, 2}, {2, 2}, false);
  ASSERT_TRUE(matching.section);
  EXPECT_THAT(matching.section->key, HasSubstr("call order (sequence"));
  EXPECT_EQ(matching.section->matched, 8);
}

Matching matching_of(const std::string& text) {
  const auto run = testing::run_of(text);
  const AlignedRun aligned{*run};
  return match_collectives(aligned.run(), aligned.clocks());
}

constexpr std::int64_t ms = 1'000'000;

std::string steps_and_calls(int steps, std::int64_t step_ns,
                            const std::function<std::string(int, int, std::int64_t)>& calls) {
  std::string text = "@run clock=same_host clock_error=1000\n@group dp 0,1\n";
  for (int step = 0; step < steps; ++step)
    for (const int rank : {0, 1}) {
      const std::int64_t begin = 100 * ms * step;
      text += format("{} step {} {} step index={} lane=main\n", rank, begin, begin + step_ns, step);
      text += calls(rank, step, begin);
    }
  return text;
}

std::string call(int rank, std::int64_t begin, std::int64_t end, int sequence = -1) {
  return format("{} comm {} {} allreduce group=dp seq={} bytes=1000 lane=comm\n", rank, begin, end, sequence);
}

/// On rank 1 the call at the end of each step is recorded after the mark of the next one: by steps, each would be
/// matched with one of another step.
std::string late_calls(std::int64_t clock_skew) {
  return steps_and_calls(20, 100 * ms, [clock_skew](int rank, int, std::int64_t begin) {
    return call(rank, begin + (rank == 1 ? 101 * ms + clock_skew : 99 * ms), begin + 110 * ms + clock_skew * rank);
  });
}

TEST(CallOrder, OfTheWholeRecordingCountsWhereTimesContradictThatOfSteps) {
  const Matching matching = matching_of(late_calls(0));
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 40);
  EXPECT_THAT(matching.section->key, HasSubstr("call order (sequence"));
  for (const Operation& operation : matching.section->operations) EXPECT_EQ(operation.spread_ns, 2 * ms);
}

TEST(CallOrder, MatchesNothingWhereTimesContradictEveryOrder) {
  // On rank 1 the first call was lost, and calls are recorded after the mark of the next step.
  const Matching matching = matching_of(steps_and_calls(20, 100 * ms, [](int rank, int step, std::int64_t begin) {
    if (rank == 1 && step == 0) return std::string{};
    return call(rank, begin + (rank == 1 ? 101 * ms : 99 * ms), begin + 110 * ms);
  }));
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 0);
  EXPECT_EQ(matching.section->unmatched, 39);
  ASSERT_FALSE(matching.section->unmatched_parts.empty());
  EXPECT_THAT(matching.section->unmatched_parts.front().why, HasSubstr("no sequence number"));
}

TEST(CallOrder, OfASingleStepMayBeContradicted) {
  const Matching matching = matching_of(steps_and_calls(40, 100 * ms, [](int rank, int step, std::int64_t begin) {
    if (step == 7) return call(rank, begin + (rank == 0 ? 10 : 60) * ms, begin + (rank == 0 ? 20 : 70) * ms);
    return call(rank, begin + 10 * ms, begin + 20 * ms);
  }));
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 78);
  EXPECT_EQ(matching.section->unmatched, 2);
}

TEST(CallOrder, CountsCallsBetweenTwoMarks) {
  const Matching matching = matching_of(steps_and_calls(10, 60 * ms, [](int rank, int step, std::int64_t begin) {
    std::string text = call(rank, begin + 51 * ms, begin + 55 * ms) + call(rank, begin + 80 * ms, begin + 85 * ms);
    if (step == 4 && rank == 1) text += call(rank, begin + 90 * ms, begin + 92 * ms);  // once more, after its mark
    return text;
  }));
  ASSERT_TRUE(matching.section);
  EXPECT_EQ(matching.section->matched, 38);
  EXPECT_EQ(matching.section->unmatched, 3) << "only what follows mark 4";
}

TEST(CallOrder, LeavesRecordedSequenceNumbersAlone) {
  for (const bool marked : {true, false}) {
    std::string text = steps_and_calls(10, 100 * ms, [](int rank, int step, std::int64_t begin) {
      return call(rank, begin + 60 * ms, begin + 65 * ms, step) + call(rank, begin + 80 * ms, begin + 85 * ms);
    });
    if (!marked)
      for (std::size_t at = 0; (at = text.find(" step ", at)) != text.npos;) text.replace(at, 6, " user ");
    const Matching matching = matching_of(text);
    ASSERT_TRUE(matching.section);
    EXPECT_EQ(matching.section->matched, 40) << marked;
    EXPECT_EQ(matching.section->operations.size(), 20U) << marked;
  }
}

}  // namespace
}  // namespace rankscope::analyzer
