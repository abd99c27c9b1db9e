#include "hang/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/synthetic_run.h"
#include "hang/suspects.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

std::vector<Finding> findings_of(std::string_view text, std::string_view id) {
  const Report report = analyze(*run_of(text), {});
  std::vector<Finding> found;
  if (!report.findings) return found;
  for (const Finding& finding : *report.findings) {
    if (finding.id == id) found.push_back(finding);
  }
  return found;
}

// Rank 1 is gone in step 1 before its operation; the others fail a moment later because their connections close.
constexpr std::string_view one_killed =
    "@run clock=same_host world_size=3\n"
    "@group dp 0,1,2\n"
    "@rank 0 recorded=0:260 ended=exited:1\n"
    "@rank 1 recorded=0:120 ended=vanished:0\n"
    "@rank 2 recorded=0:255 ended=exited:1\n"
    "0 step 0 100 step index=0\n0 comm 50 90 allreduce group=dp\n"
    "1 step 0 100 step index=0\n1 comm 60 90 allreduce group=dp\n"
    "2 step 0 100 step index=0\n2 comm 55 90 allreduce group=dp\n"
    "0 step 100 250 step index=1\n0 comm 150 - allreduce group=dp state=started\n"
    "1 step 100 120 step index=1 cut=end\n"
    "2 step 100 250 step index=1\n2 comm 160 - allreduce group=dp state=started\n";

TEST(LostRanks, TheOneThatVanishedFirstIsNamedWithItsStep) {
  const auto lost = findings_of(one_killed, "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_EQ(lost[0].step, 1);
  EXPECT_EQ(lost[0].severity, FindingSeverity::critical);
  EXPECT_NE(lost[0].evidence.find("ranks 0, 2"), std::string::npos) << lost[0].evidence;
}

/// Rank 0 has only its last operations, and rank 1 many more; rank 1 is the one that is behind.
std::string unequally_thinned(bool has_numbers) {
  std::string text =
      "@run clock=same_host world_size=2\n@group dp 0,1\n@quality events_thinned 1000\n"
      "@rank 0 recorded=0:2000 ended=exited:1\n@rank 1 recorded=0:1000 ended=vanished:0\n";
  for (int i = 0; i < 100; ++i) {
    const std::string number = format(" seq={}", has_numbers ? i : -1);
    if (i >= 90) text += format("0 comm {} {} allreduce group=dp{}\n", 10 * i, 10 * i + 5, number);
    if (i < 95) text += format("1 comm {} {} allreduce group=dp{}\n", 10 * i, 10 * i + 5, number);
  }
  return text;
}

TEST(LostRanks, WhereOldEventsWereThinnedOutNumbersTellWhoIsBehind) {
  const auto lost = findings_of(unequally_thinned(true), "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
}

TEST(LostRanks, WhereOldEventsWereThinnedOutCountsTellNothing) {
  const auto frontiers = hang::comm_frontiers(*run_of(unequally_thinned(false)));
  ASSERT_EQ(frontiers.size(), 2U);
  EXPECT_EQ(frontiers[0].missed, 0) << "not the 85 that rank 1 has more of";
  EXPECT_EQ(frontiers[1].missed, 0);
  const auto numbered = hang::comm_frontiers(*run_of(unequally_thinned(true)));
  EXPECT_EQ(numbered[0].missed, 0);
  EXPECT_EQ(numbered[1].missed, 5);
}

// All ranks end without a word between two operations: one was killed, and then torchrun ended the others.
constexpr std::string_view killed_then_ended =
    "@run clock=same_host world_size=2 meta.exit_status=1 meta.ended_by.rank0=SIGTERM meta.ended_by.rank1=SIGKILL\n"
    "@group dp 0,1\n"
    "@rank 0 host=n3 recorded=0:190 ended=vanished:0\n"
    "@rank 1 host=n3 recorded=0:195 ended=vanished:0\n"
    "0 step 0 100 step index=0\n0 comm 50 90 allreduce group=dp\n0 step 100 190 step index=1 cut=end\n"
    "1 step 0 100 step index=0\n1 comm 60 90 allreduce group=dp\n1 step 100 195 step index=1 cut=end\n";

TEST(LostRanks, TheSignalThatEndedARankShowsWhichStoppedFirst) {
  const auto lost = findings_of(killed_then_ended, "rank_lost");
  ASSERT_EQ(lost.size(), 1U) << "not a job that stopped as a whole";
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_NE(lost[0].evidence.find("this was 195 ns after its recording began"), std::string::npos) << lost[0].evidence;
  EXPECT_EQ(lost[0].cause, "this was 195 ns after its recording began, on host n3; the command ended with status 1");
}

TEST(LostRanks, TheOutOfMemoryKillerIsNamedForARankThatSigkillEnded) {
  std::string text{killed_then_ended};
  text.insert(text.find(" meta.ended_by.rank0"), " meta.oom_kills.rank1=\"cgroup 1\"");
  const auto lost = findings_of(text, "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_THAT(lost[0].evidence,
              ::testing::HasSubstr("the kernel's out-of-memory killer ended 1 process of the job while the job ran"));
  EXPECT_THAT(lost[0].advice, ::testing::HasSubstr("Reduce the host memory of rank 1"));
  const HangReport report = judge_run(*run_of(text));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].evidence, ::testing::HasSubstr("out-of-memory killer ended 1 process of the job"));
  EXPECT_THAT(report.roots[0].advice, ::testing::HasSubstr("Reduce the host memory of rank 1"));
  for (const auto& [key, value] : analyze(*run_of(text), {}).facts) EXPECT_FALSE(key.starts_with("oom_kills.")) << key;
  text.replace(text.find("cgroup 1"), 8, "host 1");
  const auto elsewhere = findings_of(text, "rank_lost").at(0);
  EXPECT_THAT(elsewhere.evidence, ::testing::HasSubstr("ended 1 process on the host of the rank"));
  EXPECT_THAT(elsewhere.advice, ::testing::HasSubstr("kernel log of its host")) << "it may have been another job";
  text.replace(text.find("host 1"), 6, "cgroup x");
  EXPECT_EQ(findings_of(text, "rank_lost").at(0).evidence.find("out-of-memory"), std::string::npos) << "damaged";
}

TEST(LostRanks, TheVerdictSaysTheSignalTheHostAndTheStatusOfTheCommand) {
  const Verdict verdict = verdict_of(analyze(*run_of(killed_then_ended), {}));
  EXPECT_EQ(verdict.headline, "Rank 1 was killed by SIGKILL in step 1.");
  ASSERT_FALSE(verdict.more.empty());
  EXPECT_EQ(verdict.more.front(),
            "This was 195 ns after its recording began, on host n3; the command ended with status 1.");
}

TEST(LostRanks, AJobThatWasStoppedBecauseItHungNamesTheRankThatHung) {
  const auto stopped = findings_of(
      "@run clock=same_host world_size=2 origin_unix=1000000000 meta.stopped_by=SIGTERM "
      "meta.stopped_at_unix_ns=21000000000\n@group dp 0,1\n"
      "@rank 0 recorded=0:20000000000 ended=vanished\n@rank 1 recorded=0:20000000000 ended=vanished\n"
      "0 step 0 100 step index=4\n1 step 0 100 step index=4\n"
      "0 step 100 20000000000 step index=5 cut=end\n0 comm 150 - allreduce group=dp state=started\n"
      "1 step 100 20000000000 step index=5 cut=end\n1 forward 110 20000000000 forward cut=end\n",
      "job_stopped");
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0].rank, RankId{1});
  EXPECT_EQ(stopped[0].severity, FindingSeverity::critical);
  EXPECT_NE(stopped[0].title.find("the job hung: rank 1 is stuck outside of communication"), std::string::npos)
      << stopped[0].title;
  EXPECT_NE(stopped[0].evidence.find("received SIGTERM"), std::string::npos) << stopped[0].evidence;
}

// Rank 0 gave up waiting after 20 s and exited; torchrun then ended rank 1, which had recorded nothing for 19 s.
TEST(LostRanks, ARankThatHungUntilTheLauncherEndedItIsNamedAsTheVerbHangDoes) {
  std::string text =
      "@run clock=same_host world_size=2 origin_unix=1000000000 meta.exit_status=1 "
      "meta.end_seen.rank0=\"10 256 21000000000\" meta.end_seen.rank1=\"11 15 21200000000\"\n@group dp 0,1\n"
      "@rank 0 pid=10 recorded=0:20000000000 ended=exited:1\n@rank 1 pid=11 recorded=0:1000000000 ended=vanished\n"
      "@lane 1 main kind=thread number=1\n@lane 1 \"python stacks\" kind=thread number=2\n"
      "0 step 0 100 step index=4\n1 step 0 100 step index=4\n"
      "0 step 100 20000000000 step index=5 cut=end\n0 comm 150 - allreduce group=dp state=started\n"
      "1 step 100 1000000000 step index=5 cut=end\n1 forward 110 1000000000 forward cut=end\n";
  const auto lost = findings_of(text, "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_THAT(lost[0].title, ::testing::HasSubstr("the job hung: rank 1 is stuck outside of communication"));
  EXPECT_THAT(lost[0].title, ::testing::HasSubstr("(step 5)"));
  EXPECT_EQ(lost[0].missed_at, at(150)) << "when rank 0 began to wait for it";
  EXPECT_THAT(lost[0].evidence, ::testing::HasSubstr("its process was ended by SIGTERM"));
  EXPECT_THAT(lost[0].evidence, ::testing::HasSubstr("it was killed by SIGTERM 20.2 s after its recording began"))
      << "which is when it was seen to end, not when it recorded last";
  EXPECT_THAT(lost[0].evidence, ::testing::HasSubstr("the command ended with status 1"));
  EXPECT_THAT(lost[0].advice, ::testing::HasSubstr("Look at the log of rank 1: what ran instead of the operation?"));

  text += "1 mark 900000000 \"wait_for_disk train.py:76\" ns=100000000 lane=\"python stacks\"\n";
  const auto sampled = findings_of(text, "rank_lost");
  ASSERT_EQ(sampled.size(), 1U);
  EXPECT_THAT(sampled[0].evidence, ::testing::HasSubstr("its stack ends at wait_for_disk train.py:76"));
  EXPECT_THAT(sampled[0].advice, ::testing::HasSubstr("Look at wait_for_disk train.py:76 and at the log of rank 1"));
}

TEST(LostRanks, OneSignalForAllRanksIsTheEndOfTheJob) {
  std::string text{killed_then_ended};
  text.replace(text.find("rank1=SIGKILL"), 13, "rank1=SIGTERM");
  EXPECT_TRUE(findings_of(text, "rank_lost").empty());
  EXPECT_EQ(findings_of(text, "job_stopped").size(), 1U);
}

TEST(LostRanks, AfterItsLastCompleteStepItIsLostInTheNextOne) {
  const auto lost = findings_of(
      "@run clock=same_host\n@group dp 0,1\n"
      "@rank 0 recorded=0:190 ended=vanished\n@rank 1 recorded=0:120 ended=exited:1\n"
      "0 step 0 100 step index=9\n1 step 0 100 step index=9\n"
      "0 comm 150 - allreduce group=dp state=started\n",
      "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_EQ(lost[0].step, 10) << "a step that is marked by its end leaves no mark when it is cut off";
}

TEST(LostRanks, PeersWhoseRecordingEndsEarlierButWhoWaitedAreNotBlamed) {
  // All were killed; ranks 0 and 2 sat in the operation and recorded nothing after its start.
  const auto lost = findings_of(
      "@run clock=same_host\n@group dp 0,1,2\n"
      "@rank 0 recorded=0:50 ended=vanished\n@rank 1 recorded=0:90 ended=vanished\n@rank 2 recorded=0:60 "
      "ended=vanished\n"
      "0 step 0 50 step index=7 cut=end\n0 comm 50 - allreduce group=dp state=started\n"
      "1 step 0 90 step index=7 cut=end\n"
      "2 step 0 60 step index=7 cut=end\n2 comm 60 - allreduce group=dp state=started\n",
      "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_EQ(lost[0].step, 7);
}

TEST(LostRanks, ARankThatDiesInsideAnOperationIsTheFirstToEnd) {
  const auto lost = findings_of(
      "@run clock=same_host\n@group dp 0,1\n"
      "@rank 0 recorded=0:90 ended=exited:1\n@rank 1 recorded=0:60 ended=vanished\n"
      "0 step 0 90 step index=3\n0 comm 50 - allreduce group=dp state=started\n"
      "1 step 0 60 step index=3 cut=end\n1 comm 60 - allreduce group=dp state=started\n",
      "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_EQ(lost[0].step, 3);
}

TEST(LostRanks, AnExitStatusNamesHowItEnded) {
  const auto lost = findings_of(
      "@run clock=same_host\n"
      "@rank 0 recorded=0:300 ended=exited:0\n@rank 1 recorded=0:120 ended=exited:3\n"
      "0 step 0 100 step index=0\n0 step 100 200 step index=1\n0 step 200 300 step index=2\n"
      "1 step 0 100 step index=0\n1 step 100 120 step index=1 cut=end\n",
      "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].step, 1);
  EXPECT_NE(lost[0].evidence.find("status 3"), std::string::npos);
}

TEST(LostRanks, ACrashAfterTheLastStepCostsNobodyAnything) {
  EXPECT_TRUE(findings_of("@run clock=same_host\n@group dp 0,1\n"
                          "@rank 0 recorded=0:100 ended=exited:0\n@rank 1 recorded=0:100 ended=vanished\n"
                          "0 step 0 100 step index=0\n0 comm 10 20 allreduce group=dp\n"
                          "1 step 0 100 step index=0\n1 comm 10 20 allreduce group=dp\n",
                          "rank_lost")
                  .empty());
}

TEST(LostRanks, AJobThatWasStoppedAsAWholeLostNoRank) {
  constexpr std::string_view all_killed =
      "@run clock=same_host\n@group dp 0,1\n"
      "@rank 0 recorded=0:100 ended=vanished\n@rank 1 recorded=0:90 ended=vanished\n"
      "0 step 0 100 step index=0 cut=end\n0 comm 10 - allreduce group=dp state=started\n"
      "1 step 0 90 step index=0 cut=end\n1 comm 10 - allreduce group=dp state=started\n";
  EXPECT_TRUE(findings_of(all_killed, "rank_lost").empty());
  EXPECT_EQ(findings_of(all_killed, "job_stopped").size(), 1U);
}

// Both were asked to end in step 1; rank 0 had begun an operation that rank 1 never reached.
std::string asked_to_end(std::string_view signal, std::int64_t end_of_rank_1) {
  return format(
      "@run clock=same_host{}\n@group dp 0,1\n"
      "@rank 0 recorded=0:5000000000 ended=vanished\n@rank 1 recorded=0:{} ended=vanished\n"
      "0 step 0 100 step index=0\n1 step 0 100 step index=0\n0 comm 10 20 allreduce group=dp\n1 comm 10 20 allreduce "
      "group=dp\n0 step 100 4999999900 step index=1 cut=end\n0 comm 110 - allreduce group=dp state=started\n"
      "1 step 100 110 step index=1 cut=end\n",
      signal.empty() ? "" : format(" meta.stopped_by={}", signal), end_of_rank_1);
}

TEST(LostRanks, AJobThatWasAskedToEndLostNoRankWhoeverWasTheFirst) {
  const std::string text = asked_to_end("SIGINT", 4'990'000'000);
  EXPECT_TRUE(findings_of(text, "rank_lost").empty());
  const auto stopped = findings_of(text, "job_stopped");
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0].title, "the job hung: rank 1 never reached allreduce 1 of group dp (step 1)")
      << "which is why somebody stopped it";
  EXPECT_EQ(stopped[0].missed_at, at(110));
  EXPECT_THAT(stopped[0].evidence, ::testing::HasSubstr("the recorder received SIGINT"));
  EXPECT_EQ(stopped[0].step, 1);
}

TEST(LostRanks, RanksMayTakeTheirTimeToEndAfterTheJobWasAskedTo) {
  const auto asked_at = [](std::int64_t ns) {
    return asked_to_end(format("SIGINT origin_unix=1000000000 meta.stopped_at_unix_ns={}", 1'000'000'000 + ns),
                        2'000'000'000);
  };
  EXPECT_EQ(findings_of(asked_at(1'900'000'000), "job_stopped").size(), 1U) << "the first ended 100 ms after that";
  EXPECT_EQ(findings_of(asked_at(4'900'000'000), "rank_lost").size(), 1U) << "it was gone 3 s before";
}

TEST(LostRanks, ARankThatWasGoneBeforeTheJobWasAskedToEndIsLost) {
  EXPECT_EQ(findings_of(asked_to_end("SIGINT", 2'000'000'000), "rank_lost").size(), 1U);
  EXPECT_EQ(findings_of(asked_to_end("", 4'990'000'000), "rank_lost").size(), 1U);
  EXPECT_EQ(findings_of(asked_to_end("duration", 4'990'000'000), "rank_lost").size(), 1U);
}

// Rank 2 is killed while the job starts; the launcher ends the others; rank 3 had not opened its recording yet.
constexpr std::string_view killed_at_start =
    "@run clock=same_host world_size=4\n"
    "@rank 0 recorded=0:1300000000 ended=exited:1\n"
    "@rank 1 recorded=0:1200000000 ended=vanished\n"
    "@rank 2 recorded=0:812000000 ended=vanished\n"
    "0 user 0 100 init\n1 user 0 100 init\n2 user 0 100 init\n";

TEST(LostRanks, KilledDuringStartUpNamesWhoVanishedWhenAndWhoLeftNothing) {
  const auto lost = findings_of(killed_at_start, "lost_at_start");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{2});
  EXPECT_EQ(lost[0].severity, FindingSeverity::critical);
  EXPECT_EQ(lost[0].title,
            "rank 2 vanished 812 ms after its recording began, before any step, and rank 3 left no recording");
  EXPECT_NE(lost[0].evidence.find("the first to end was rank 2"), std::string::npos) << lost[0].evidence;
  EXPECT_NE(lost[0].evidence.find("ranks 0, 1"), std::string::npos) << lost[0].evidence;
  EXPECT_EQ(findings_of(killed_at_start, "ranks_missing").size(), 1U);
}

TEST(LostRanks, WhoeverOnlyNoticedTheLossIsNotCalledVanished) {
  const auto lost = findings_of(
      "@run clock=same_host world_size=2\n@rank 0 recorded=0:30000000000 ended=exited:1\n0 user 0 100 init\n",
      "lost_at_start");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rank, RankId{1});
  EXPECT_EQ(lost[0].title, "rank 1 left no recording, and the others ended with errors before any step");
  EXPECT_NE(lost[0].evidence.find("status 1, 30.0 s after its recording began"), std::string::npos) << lost[0].evidence;
}

TEST(LostRanks, WithAllRanksRecordedTheMomentOfALossBeforeAnyStepIsNamed) {
  const auto lost = findings_of(
      "@run clock=same_host\n@rank 0 recorded=0:900000000 ended=exited:1\n"
      "@rank 1 recorded=0:812000000 ended=vanished\n"
      "@group dp 0,1\n0 comm 800000000 - allreduce group=dp state=started\n1 user 0 100 init\n",
      "rank_lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].title, "rank 1 was lost 812 ms after its recording began, before any step");
}

TEST(LostRanks, ACleanRunHasNone) {
  EXPECT_TRUE(findings_of(testing::text_of({}), "rank_lost").empty());
  EXPECT_TRUE(findings_of(testing::text_of({}), "ranks_missing").empty());
}

TEST(LostRanks, LongListsOfRanksAreRanges) {
  std::string text = "@run world_size=300\n";
  for (const int rank : {34, 36}) text += std::to_string(rank) + " op 0 10 op\n";
  const auto absent = findings_of(text, "ranks_missing");
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].title, "ranks 0–33, 35, 37–299 (of 300) were not recorded");
}

TEST(LostRanks, AClaimOfBillionsTakesNoTime) {
  const auto absent = findings_of("@run world_size=5000000000\n34 op 0 10 op\n", "ranks_missing");
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].title, "ranks 0–33, 35–4999999999 (of 5000000000) were not recorded");
}

TEST(LostRanks, RanksThatWereNeverRecordedAreNamed) {
  const auto absent = findings_of("@run world_size=4\n0 op 0 10 op\n2 op 0 10 op\n", "ranks_missing");
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].title, "ranks 1, 3 (of 4) were not recorded");
  EXPECT_EQ(absent[0].evidence,
            "only 2 of 4 ranks were recorded; waits are lower bounds, and a missing rank may be the one that is late");
}

TEST(LostRanks, OfASingleRankNothingIsSaidOfWaits) {
  const auto absent = findings_of("@run world_size=64\n0 op 0 10 op\n", "ranks_missing");
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].evidence,
            "only 1 of 64 ranks was recorded; without the others, waiting cannot be distinguished from transfer");
}

}  // namespace
}  // namespace rankscope::analyzer
