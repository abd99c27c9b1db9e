#include "hang/run_progress.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::hang {
namespace {

using testing::run_of;

constexpr std::string_view two_ranks =
    "@run clock=same_host world_size=2 origin_unix=1000000000\n@group dp 0,1\n"
    "@rank 0 pid=10 host=n0 recorded=0:20000000000 ended=vanished\n"
    "@rank 1 pid=11 host=n0 recorded=0:20000000000 ended=vanished\n";

std::string enqueued(int rank, std::string_view op, std::int64_t at, std::int64_t sequence) {
  return format("{} comm {} - {} group=dp seq={} state=enqueued\n", rank, at, op, sequence);
}

TEST(RunProgress, CallsThatDifferAreFoundWhateverTheirSequenceIs) {
  for (const std::int64_t sequence : {std::int64_t{3}, std::int64_t{1} << 62, INT64_MAX}) {
    const HangReport report = judge_run(*run_of(std::string{two_ranks} + enqueued(0, "allreduce", 100, sequence) +
                                                enqueued(1, "broadcast", 100, sequence)));
    ASSERT_EQ(report.roots.size(), 1U) << sequence;
    EXPECT_EQ(report.roots[0].kind, HangKind::order) << sequence;
    ASSERT_TRUE(report.roots[0].operation);
    EXPECT_EQ(report.roots[0].operation->sequence, std::min(sequence, CommCall::largest_sequence));
  }
}

TEST(RunProgress, WhereOldEventsWereThinnedOutTheCallsAreNotTheWholeHistory) {
  const std::string text =
      std::string{two_ranks} + "0 comm 50 90 allreduce group=dp seq=-1\n1 comm 50 90 allreduce group=dp seq=-1\n";
  const JobProgress whole = progress_of_run(*run_of(text), 0);
  EXPECT_TRUE(whole.ranks.at(0).whole_history);
  EXPECT_EQ(whole.completeness, Completeness::whole);
  const JobProgress thinned = progress_of_run(*run_of(text + "@quality events_thinned 10\n"), 0);
  EXPECT_FALSE(thinned.ranks.at(0).whole_history);
  EXPECT_EQ(thinned.completeness, Completeness::counts_lost);
}

TEST(RunProgress, CallsBeforeOneThatDiffersAreSettledAlsoIfManyNumbersAreBetween) {
  constexpr std::int64_t far = std::int64_t{1} << 62;
  const JobProgress job = progress_of_run(
      *run_of(std::string{two_ranks} + enqueued(0, "allreduce", 100, 1) + enqueued(1, "allreduce", 100, 1) +
              enqueued(0, "allreduce", 200, far) + enqueued(1, "broadcast", 200, far)),
      0);
  for (const auto& [rank, progress] : job.ranks) {
    ASSERT_EQ(progress.open.size(), 1U) << rank;
    EXPECT_EQ(progress.open[0].sequence, far) << rank;
  }
}

TEST(RunProgress, AFinishedCallWithTheLargestNumberIsRemembered) {
  const JobProgress job =
      progress_of_run(*run_of(std::string{two_ranks} + "0 comm 50 90 allreduce group=dp seq=9223372036854775807\n"), 0);
  ASSERT_EQ(job.ranks.at(0).groups.size(), 1U);
  EXPECT_EQ(job.ranks.at(0).groups[0].recent.size(), 1U);
}

TEST(RunProgress, ManyCallsWhoseKernelsWereNotSeenToEndAreRead) {
  constexpr std::int64_t calls = 20'000;  // work that grows with their square or cube would take longer than a test may
  std::string text{two_ranks};
  for (std::int64_t i = 0; i < calls; ++i)
    for (const int rank : {0, 1}) text += enqueued(rank, "allreduce", 100 + i, i);
  const JobProgress job = progress_of_run(*run_of(text), 0);
  for (const auto& [rank, progress] : job.ranks) {
    EXPECT_EQ(progress.groups.at(0).entered, calls - 1);
    EXPECT_EQ(progress.open.at(0).sequence, 0) << "the first one holds the others up";
    EXPECT_LE(progress.groups.at(0).recent.size(), RankProgress::most_open);
  }
}

}  // namespace
}  // namespace rankscope::analyzer::hang
