#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/synthetic_run.h"
#include "hang/process_ends.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_of;

/// "11 9 1120;10 15 1260" (pid, status as of waitpid, ns) as metadata; rank N has pid 10 + N.
std::string ends_seen(std::string_view ends) {
  std::string text;
  for (std::size_t begin = 0; begin < ends.size();) {
    const std::size_t end = std::min(ends.find(';', begin), ends.size());
    const std::string_view row = ends.substr(begin, end - begin);
    text += format(" meta.end_seen.rank{}=\"{}\"", std::stoi(std::string{row}) - 10, row);
    begin = end + 1;
  }
  return text;
}

// Times in ns; a rank that lives on for 3 s while its peers wait is hung.
constexpr std::string_view killed_by_sigkill =
    "@run clock=same_host world_size=3 origin_unix=1000 "
    "meta.end_seen.rank1=\"11 9 1120\" meta.end_seen.rank2=\"12 15 1260\" meta.end_seen.rank0=\"10 15 1260\"\n"
    "@group dp 0,1,2\n"
    "@rank 0 pid=10 host=n0 recorded=0:260 ended=vanished\n"
    "@rank 1 pid=11 host=n0 recorded=0:120 ended=vanished\n"
    "@rank 2 pid=12 host=n0 recorded=0:255 ended=vanished\n"
    "0 step 0 100 step index=19\n0 comm 50 90 allreduce group=dp\n"
    "1 step 0 100 step index=19\n1 comm 60 90 allreduce group=dp\n"
    "2 step 0 100 step index=19\n2 comm 55 90 allreduce group=dp\n"
    "0 step 100 250 step index=20 cut=end\n0 comm 150 - allreduce group=dp state=started\n"
    "1 step 100 120 step index=20 cut=end\n1 backward 105 120 backward cut=end\n"
    "2 step 100 250 step index=20 cut=end\n2 comm 160 - allreduce group=dp state=started\n";

TEST(HangOfRun, AKilledRankIsNamedWithItsSignalAndPlace) {
  const HangReport report = judge_run(*run_of(killed_by_sigkill));
  EXPECT_EQ(report.verdict, HangVerdict::crash);
  ASSERT_EQ(report.roots.size(), 1U);
  const HangRoot& root = report.roots[0];
  EXPECT_EQ(root.kind, HangKind::dead);
  EXPECT_THAT(root.ranks, ElementsAre(RankId{1})) << "those that the launcher ended are consequences";
  EXPECT_EQ(root.signal, 9);
  EXPECT_EQ(root.step, 20);
  EXPECT_EQ(root.range, "backward");
  ASSERT_TRUE(root.operation);
  EXPECT_EQ(root.operation->op, "allreduce");
  EXPECT_EQ(root.operation->group.name, "dp");
  EXPECT_THAT(root.evidence, HasSubstr("SIGKILL"));
  EXPECT_THAT(root.evidence, HasSubstr("ranks 0, 2 wait"));
}

// The end of rank 1 was not seen: its host was gone with it. The others noticed, and exited with status 1.
constexpr std::string_view vanished_unseen =
    "@run clock=same_host world_size=3 origin_unix=1000 meta.end_seen.rank0=\"10 256 1260\" meta.end_seen.rank2=\"12 "
    "256 1255\"\n"
    "@group dp 0,1,2\n"
    "@rank 0 pid=10 host=n0 recorded=0:260 ended=exited:1\n"
    "@rank 1 pid=11 host=n1 recorded=0:120 ended=vanished\n"
    "@rank 2 pid=12 host=n0 recorded=0:255 ended=exited:1\n"
    "0 step 0 100 step index=1\n1 step 0 100 step index=1\n2 step 0 100 step index=1\n"
    "0 comm 50 90 allreduce group=dp\n1 comm 60 90 allreduce group=dp\n2 comm 55 90 allreduce group=dp\n"
    "0 step 100 250 step index=2\n0 comm 150 - allreduce group=dp state=started\n"
    "1 step 100 120 step index=2 cut=end\n"
    "2 step 100 250 step index=2\n2 comm 160 - allreduce group=dp state=started\n";

TEST(HangOfRun, WhoOnlyNoticedALossThatNobodySawIsNotBlamed) {
  const HangReport report = judge_run(*run_of(vanished_unseen));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1})) << report.roots[0].evidence;
  EXPECT_EQ(report.roots[0].kind, HangKind::dead);
  EXPECT_FALSE(report.roots[0].exit_status) << "how it ended is not known";
}

TEST(HangOfRun, OfRanksThatAllWereSeenToEndTheFirstIsNamed) {
  std::string text{vanished_unseen};
  const std::string_view ends = "meta.end_seen.rank2=";
  text.insert(text.find(ends), "meta.end_seen.rank1=\"11 9 1257\" ");
  const HangReport report = judge_run(*run_of(text));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2})) << "it ended 2 ns before rank 1";
}

TEST(HangOfRun, ARankThatLivedOnWhileItsPeersWaitedHung) {
  const HangReport report =
      judge_run(*run_of("@run clock=same_host world_size=2\n@group dp 0,1\n"
                        "@rank 0 recorded=0:20000000000 ended=vanished\n@rank 1 recorded=0:20000000000 ended=vanished\n"
                        "0 step 0 100 step index=4\n1 step 0 100 step index=4\n"
                        "0 step 100 20000000000 step index=5 cut=end\n0 comm 150 - allreduce group=dp state=started\n"
                        "1 step 100 20000000000 step index=5 cut=end\n1 forward 110 20000000000 forward cut=end\n"));
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::stuck_outside);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].range, "forward");
}

// Rank 0 waits from 0.15 us on; rank 1 computes for 20 s, and ends as given. Rank 2 is in no group with rank 1.
HangReport after_20_s(std::string_view ends) {
  std::string text = "@run clock=same_host world_size=3 origin_unix=1000000000";
  text += ends_seen(ends);
  text +=
      "\n@group dp 0,1\n@group other 0,2\n"
      "@rank 0 pid=10 host=n0 recorded=0:20000000000 ended=vanished\n"
      "@rank 1 pid=11 host=n0 recorded=0:20000000000 ended=vanished\n"
      "@rank 2 pid=12 host=n0 recorded=0:20000000000 ended=vanished\n"
      "0 step 0 100 step index=4\n1 step 0 100 step index=4\n2 step 0 100 step index=4\n"
      "0 step 100 20000000000 step index=5 cut=end\n0 comm 150 - allreduce group=dp state=started\n"
      "1 step 100 20000000000 step index=5 cut=end\n1 forward 110 20000000000 forward cut=end\n"
      "2 step 100 20000000000 step index=5 cut=end\n";
  return judge_run(*run_of(text));
}

// Gloo gives an operation up after its timeout: the ranks that waited exit with an error, and torchrun ends rank 1,
// which never came. Ranks 0 and 2 waited for 15 s.
constexpr std::string_view given_up =
    "@run clock=same_host world_size=3 origin_unix=1000 meta.end_seen.rank0=\"10 256 20000001000\" "
    "meta.end_seen.rank1=\"11 15 21000001000\" meta.end_seen.rank2=\"12 256 20000001200\"\n"
    "@group dp 0,1,2\n"
    "@rank 0 pid=10 host=n0 recorded=0:20000000000 ended=exited:1\n"
    "@rank 1 pid=11 host=n0 recorded=0:20900000000 ended=vanished\n"
    "@rank 2 pid=12 host=n0 recorded=0:20000000200 ended=exited:1\n"
    "0 step 0 100 step index=0\n0 comm 50 90 allreduce group=dp seq=0\n"
    "1 step 0 100 step index=0\n1 comm 60 90 allreduce group=dp seq=0\n"
    "2 step 0 100 step index=0\n2 comm 55 90 allreduce group=dp seq=0\n"
    "0 step 100 19900000000 step index=1 cut=end\n0 comm 4000000000 19000000000 allreduce group=dp seq=1 failed=1\n"
    "1 step 100 20900000000 step index=1 cut=end\n1 backward 105 20900000000 backward cut=end\n"
    "2 step 100 19900000000 step index=1 cut=end\n2 comm 4000000100 19000000100 allreduce group=dp seq=1 failed=1\n";

TEST(HangOfRun, OperationsThatALibraryGaveUpWereStillWaitedFor) {
  const HangReport report = judge_run(*run_of(given_up));
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].kind, HangKind::stuck_outside);
  ASSERT_TRUE(report.roots[0].operation);
  EXPECT_EQ(report.roots[0].operation->sequence, 1);
}

TEST(HangOfRun, OperationsThatFailedSinceAPeerWasGoneNameThatPeer) {
  std::string text{given_up};
  const auto replace = [&text](std::string_view what, std::string_view by) {
    ASSERT_NE(text.find(what), std::string::npos) << what;
    text.replace(text.find(what), what.size(), by);
  };
  replace("11 15 21000001000", "11 9 4500001000");  // killed half a second after the others began to wait
  replace("recorded=0:20900000000", "recorded=0:4500000000");
  replace("1 step 100 20900000000", "1 step 100 4500000000");
  replace("1 backward 105 20900000000", "1 backward 105 4500000000");
  const HangReport report = judge_run(*run_of(text));
  EXPECT_EQ(report.verdict, HangVerdict::crash);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].kind, HangKind::dead);
  EXPECT_EQ(report.roots[0].signal, 9);
}

TEST(HangOfRun, ARankThatCrashesLongAfterItsPeersBeganToWaitIsDead) {
  const HangReport segv = after_20_s("11 11 21000000000;10 15 21000000500;12 15 21000000600");
  EXPECT_EQ(segv.verdict, HangVerdict::crash);
  ASSERT_EQ(segv.roots.size(), 1U);
  EXPECT_EQ(segv.roots[0].kind, HangKind::dead);
  EXPECT_EQ(segv.roots[0].signal, 11);
  const HangReport killed = after_20_s("11 9 21000000000;10 15 21000000500;12 15 21000000600");
  ASSERT_EQ(killed.roots.size(), 1U);
  EXPECT_EQ(killed.roots[0].kind, HangKind::dead) << "the first SIGKILL is no consequence";
  const HangReport failed = after_20_s("11 256 21000000000;10 15 21000000500;12 15 21000000600");
  EXPECT_EQ(failed.verdict, HangVerdict::failed);
}

TEST(HangOfRun, ARankThatIsKilledAfterItsPeersHungAndKeepsItsSignal) {
  const HangReport report = after_20_s("10 256 21000000000;12 15 21000000500;11 9 21000000600");
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::stuck_outside);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].signal, 9);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("its process was ended by SIGKILL"));
}

// Of an accelerator only the first operation was seen to run. Rank 1 makes the last calls that are given.
HangReport of_unseen_operations(std::string_view calls_of_rank_1) {
  std::string text =
      "@run clock=same_host world_size=2 origin_unix=1000000000\n@group dp 0,1\n"
      "@rank 0 pid=10 host=n0 recorded=0:20000000000 ended=vanished\n"
      "@rank 1 pid=11 host=n0 recorded=0:20000000000 ended=vanished\n"
      "0 compute 10 20 gemm lane=s7\n1 compute 10 20 gemm lane=s7\n"
      "0 comm 50 90 allreduce group=dp seq=0 bytes=4 dtype=f32\n1 comm 60 90 allreduce group=dp seq=0 bytes=4 "
      "dtype=f32\n"
      "0 comm 100 - allreduce group=dp seq=1 bytes=4 dtype=f32 state=enqueued\n"
      "0 comm 110 - allreduce group=dp seq=2 bytes=4 dtype=f32 state=enqueued\n"
      "0 comm 120 - allreduce group=dp seq=3 bytes=4 dtype=f32 state=enqueued\n";
  text += calls_of_rank_1;
  return judge_run(*run_of(text));
}

TEST(HangOfRun, AnOperationThatAPeerFinishedHoldsNobodyUp) {
  const HangReport report = of_unseen_operations(
      "1 comm 100 150 allreduce group=dp seq=1 bytes=4 dtype=f32\n"
      "1 comm 110 160 allreduce group=dp seq=2 bytes=4 dtype=f32\n");
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1})) << report.roots[0].evidence;
  ASSERT_TRUE(report.roots[0].operation);
  EXPECT_EQ(report.roots[0].operation->sequence, 3);
}

TEST(HangOfRun, OperationsThatAllCalledAlikeAreNotTheCauseIfALaterOneIs) {
  const HangReport report = of_unseen_operations(
      "1 comm 100 - allreduce group=dp seq=1 bytes=4 dtype=f32 state=enqueued\n"
      "1 comm 110 - broadcast group=dp seq=2 bytes=4 dtype=f32 state=enqueued\n"
      "1 comm 120 - allreduce group=dp seq=3 bytes=4 dtype=f32 state=enqueued\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::order);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("rank 0 called allreduce, rank 1 called broadcast"));
}

TEST(HangOfRun, ARankThatLacksTheLastCallsIsTheCauseAlsoIfNothingWasSeenToRun) {
  const HangReport report =
      of_unseen_operations("1 comm 100 - allreduce group=dp seq=1 bytes=4 dtype=f32 state=enqueued\n");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  ASSERT_TRUE(report.roots[0].operation);
  EXPECT_EQ(report.roots[0].operation->sequence, 2);
}

TEST(HangOfRun, AProcessThatALibraryEndedSinceCallsDidNotFitIsNoCrash) {
  const HangReport report =
      judge_run(*run_of("@run clock=same_host world_size=2 origin_unix=1000 meta.end_seen.rank1=\"11 6 1190\" "
                        "meta.end_seen.rank0=\"10 15 1300\"\n"
                        "@group dp 0,1\n@rank 0 pid=10 host=n0 recorded=0:200 ended=vanished\n"
                        "@rank 1 pid=11 host=n0 recorded=0:180 ended=vanished\n"
                        "0 comm 150 - allreduce group=dp seq=0 bytes=4 dtype=f32 state=started\n"
                        "1 comm 160 - allreduce group=dp seq=0 bytes=16384 dtype=f32 state=started\n"));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::size);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("rank 0 passed 1 element, rank 1 passed 4096 elements"));
}

TEST(HangOfRun, ARankThatWasKilledAfterTheAlarmHung) {
  const auto killed_first = [](std::string_view alarm) {
    return judge_run(
        *run_of(format("@run clock=same_host world_size=2 origin_unix=1000000000{}{}\n@group dp 0,1\n"
                       "@rank 0 pid=10 host=n0 recorded=0:20000000000 ended=vanished\n"
                       "@rank 1 pid=11 host=n0 recorded=0:20000000000 ended=vanished\n"
                       "0 comm 150 - allreduce group=dp state=started\n1 forward 110 20000000000 forward "
                       "cut=end\n",
                       ends_seen("11 9 21000000000;10 9 21000000500"), alarm)));
  };
  EXPECT_EQ(killed_first("").verdict, HangVerdict::crash);
  EXPECT_EQ(killed_first(" meta.hang_seen_at_unix_ns=15000000000").verdict, HangVerdict::hang);
}

// Ranks 1 and 3 end in their second step; ranks 0 and 2 wait for both, and are ended by the launcher.
HangReport two_dead_of_four(std::string_view ends) {
  std::string text = "@run clock=same_host world_size=4 origin_unix=1000";
  text += ends_seen(ends) + ends_seen("10 15 1360;12 15 1361");
  text +=
      "\n@group dp 0,1,2,3\n"
      "@rank 0 pid=10 host=n0 recorded=0:260 ended=vanished\n@rank 1 pid=11 host=n0 recorded=0:120 ended=vanished\n"
      "@rank 2 pid=12 host=n0 recorded=0:255 ended=vanished\n@rank 3 pid=13 host=n0 recorded=0:125 ended=vanished\n"
      "0 step 0 100 step index=1\n1 step 0 100 step index=1\n2 step 0 100 step index=1\n3 step 0 100 step index=1\n"
      "0 comm 50 90 allreduce group=dp\n1 comm 60 90 allreduce group=dp\n"
      "2 comm 55 90 allreduce group=dp\n3 comm 55 90 allreduce group=dp\n"
      "0 comm 150 - allreduce group=dp state=started\n2 comm 160 - allreduce group=dp state=started\n";
  return judge_run(*run_of(text));
}

TEST(HangOfRun, RanksThatWereKilledTogetherAreOneRoot) {
  const HangReport report = two_dead_of_four("11 9 1130;13 9 1140");
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::dead);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}, RankId{3}));
  EXPECT_EQ(report.roots[0].signal, 9);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("for each of ranks 1, 3: its process was ended by SIGKILL"));
}

TEST(HangOfRun, RanksThatDiedOfDifferentCausesAreTwoRoots) {
  const HangReport report = two_dead_of_four("11 9 1130;13 11 1140");
  ASSERT_EQ(report.roots.size(), 2U);
  EXPECT_EQ(report.roots[0].signal, 9);
  EXPECT_EQ(report.roots[1].signal, 11);
  EXPECT_EQ(report.roots[1].kind, HangKind::dead);
}

TEST(HangOfRun, ARankThatIsKilledInAnOperationThatAllEnteredIsNamed) {
  const HangReport report = judge_run(
      *run_of("@run clock=same_host world_size=2 origin_unix=1000 meta.end_seen.rank1=\"11 9 1190\" "
              "meta.end_seen.rank0=\"10 15 1300\"\n"
              "@group dp 0,1\n@rank 0 pid=10 host=n0 recorded=0:200 ended=vanished\n"
              "@rank 1 pid=11 host=n0 recorded=0:180 ended=vanished\n"
              "0 step 0 200 step index=4 cut=end\n1 step 0 180 step index=4 cut=end\n"
              "0 comm 150 - allreduce group=dp state=started\n1 comm 160 - allreduce group=dp state=started\n"));
  EXPECT_EQ(report.verdict, HangVerdict::crash);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].signal, 9);
}

// Rank 0 waits from 0.15 us to 20 s; rank 1 never comes.
std::string one_never_comes(std::string_view head, std::string_view tail) {
  std::string text = "@run clock=same_host world_size=2 origin_unix=1000000000 ";
  text += head;
  text +=
      "\n@group dp 0,1\n@rank 0 pid=10 host=n0 recorded=0:20000000000 ended=vanished\n"
      "@rank 1 pid=11 host=n0 recorded=0:20000000000 ended=vanished\n"
      "0 step 0 100 step index=4\n1 step 0 100 step index=4\n"
      "0 comm 150 - allreduce group=dp state=started\n1 forward 110 20000000000 forward cut=end\n";
  text += tail;
  return text;
}

TEST(HangOfRun, OfAJobThatHasEndedItSpeaksInThePast) {
  const std::string text = render_hang_text(judge_run(*run_of(one_never_comes("", ""))), Colour::no);
  EXPECT_THAT(text, HasSubstr("The job hung."));
  EXPECT_THAT(text, HasSubstr("Record with --hang-after SECONDS"));
  EXPECT_THAT(text, Not(HasSubstr("py-spy")));
  const std::string_view alarm = "meta.hang_seen_at_unix_ns=15000000000";
  EXPECT_THAT(render_hang_text(judge_run(*run_of(one_never_comes(alarm, ""))), Colour::no),
              HasSubstr("hang/rank-N-stacks.txt"));
}

TEST(HangOfRun, OfAJobThatStillRunsItSpeaksInThePresentAndMissesNothingThatIsGatheredLater) {
  const std::string text = one_never_comes("meta.still_running=\"2 of 2 processes\"", "@quality not_gathered 1\n");
  const HangReport report = judge_run(*run_of(text), 31'000'000'000);
  EXPECT_TRUE(report.losses.empty());
  const std::string shown = render_hang_text(report, Colour::no);
  EXPECT_THAT(shown, HasSubstr("The job hangs."));
  EXPECT_THAT(shown, HasSubstr("py-spy dump"));
}

TEST(HangOfRun, WhereEventsWereLostNothingOfCallsIsAFact) {
  const HangReport whole = judge_run(*run_of(one_never_comes("", "")));
  ASSERT_EQ(whole.roots.size(), 1U);
  EXPECT_EQ(whole.roots[0].certainty, HangCertainty::fact);
  EXPECT_TRUE(whole.losses.empty());
  const HangReport lossy = judge_run(*run_of(one_never_comes("", "@quality events_dropped 3\n")));
  ASSERT_EQ(lossy.roots.size(), 1U);
  EXPECT_NE(lossy.roots[0].certainty, HangCertainty::fact);
  ASSERT_EQ(lossy.losses.size(), 1U);
  EXPECT_EQ(lossy.losses[0].counter, "events_dropped");
}

TEST(HangOfRun, WhatWasOpenWhenTheRecordingEndedBeforeTheJobIsNoHang) {
  std::string text =
      "@run clock=same_host world_size=2 origin_unix=1000000000 meta.stopped_by=duration "
      "meta.end_seen.rank0=\"10 15 90000000000\"\n@group dp 0,1\n"
      "@rank 0 pid=10 host=n0 recorded=0:200 ended=vanished\n@rank 1 pid=11 host=n0 recorded=0:200 ended=vanished\n"
      "0 step 0 200 step index=4 cut=end\n1 step 0 200 step index=4 cut=end\n"
      "0 comm 150 - allreduce group=dp state=started\n1 comm 160 - allreduce group=dp state=started\n";
  const HangReport report = judge_run(*run_of(text));
  EXPECT_EQ(report.verdict, HangVerdict::running);
  EXPECT_TRUE(report.roots.empty());
  EXPECT_EQ(hang_headline(report), "No rank hung: the open operations had only just begun when the recording ended.");
}

TEST(HangOfRun, ACleanRunHasNoRoots) {
  const HangReport report =
      judge_run(*run_of("@run clock=same_host world_size=2\n@group dp 0,1\n"
                        "@rank 0 recorded=0:200 ended=exited:0\n@rank 1 recorded=0:200 ended=exited:0\n"
                        "0 step 0 100 step index=4\n1 step 0 100 step index=4\n"
                        "0 comm 50 90 allreduce group=dp\n1 comm 60 90 allreduce group=dp\n"));
  EXPECT_EQ(report.verdict, HangVerdict::finished);
  EXPECT_TRUE(report.roots.empty());
}

TEST(HangOfRun, AJobThatWasStoppedWhileItWorkedDoesNotHang) {
  const HangReport report = judge_run(
      *run_of("@run clock=same_host world_size=2\n@group dp 0,1\n"
              "@rank 0 recorded=0:200 ended=vanished\n@rank 1 recorded=0:200 ended=vanished\n"
              "0 step 0 200 step index=4 cut=end\n1 step 0 200 step index=4 cut=end\n"
              "0 comm 150 - allreduce group=dp state=started\n1 comm 160 - allreduce group=dp state=started\n"));
  EXPECT_EQ(report.verdict, HangVerdict::running);
  EXPECT_TRUE(report.roots.empty());
}

constexpr std::string_view loss_is_nan =
    "@run clock=same_host world_size=2 meta.exit_status=4\n@group dp 0,1\n"
    "@rank 0 recorded=0:300 ended=exited:4 meta.problem=not_finite meta.problem_step=6 "
    "meta.last_words=\"step 6: the loss of rank 0 is nan\"\n"
    "@rank 1 recorded=0:200 ended=exited:4 meta.problem=not_finite meta.problem_step=5 "
    "meta.last_words=\"step 5: the loss of rank 1 is nan\"\n"
    "0 step 0 100 step index=4\n1 step 0 100 step index=4\n0 step 100 200 step index=5\n1 step 100 200 step index=5\n"
    "0 step 200 300 step index=6 cut=end\n0 comm 250 - allreduce group=dp state=started\n";

TEST(HangOfRun, ARankThatReportsALossThatIsNotANumberIsNamed) {
  const HangReport report = judge_run(*run_of(loss_is_nan));
  EXPECT_EQ(report.verdict, HangVerdict::failed);
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::nan);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1})) << "it reported the earliest step";
  EXPECT_EQ(report.roots[0].step, 5);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("the loss of rank 1 is nan"));
}

TEST(HangOfRun, RanksWhoseCopiesDifferAreNamed) {
  const HangReport report = judge_run(
      *run_of("@run clock=same_host world_size=3\n@rank 0 recorded=0:200 ended=exited:4 meta.problem=replicas_differ "
              "meta.problem_step=5 meta.problem_ranks=\"2\" meta.last_words=\"2 differs\"\n"
              "@rank 1 recorded=0:200 ended=exited:4\n@rank 2 recorded=0:200 ended=exited:4\n"
              "0 step 0 100 step index=4\n1 step 0 100 step index=4\n2 step 0 100 step index=4\n"));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::corrupt);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  EXPECT_THAT(report.roots[0].advice, HasSubstr("test the memory and the device of rank 2"));
}

TEST(HangOfRun, TheEndOfAnEarlierProcessOfARankIsNotItsOwn) {
  std::string text{killed_by_sigkill};
  const std::string_view own = "11 9 1120";
  text.replace(text.find(own), own.size(), "99 9 1120");
  const HangReport report = judge_run(*run_of(text));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1})) << "it stopped first, whatever is known of its end";
  EXPECT_FALSE(report.roots[0].signal);
}

TEST(HangOfRun, RecordingsThatOnlyNameTheSignalsAreJudgedToo) {
  std::string text{killed_by_sigkill};
  const std::string_view own = "meta.end_seen.rank1=\"11 9 1120\"";
  text.replace(text.find(own), own.size(), "meta.ended_by.rank1=SIGKILL");
  const HangReport report = judge_run(*run_of(text));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].signal, 9);
}

TEST(ProcessEnds, AreReadFromTheirMetadata) {
  const auto run = run_of(
      "@run world_size=3 meta.end_seen.rank0=\"11 9 5000;12 256 6000\" meta.end_seen.rank1=\"damaged;x 1 1;7 9 -1\" "
      "meta.end_seen.rank2=\"13 0 7000\" meta.end_seen.rankx=\"1 9 1\" meta.ended_by.rank0=SIGTERM "
      "meta.ended_by.rank1=SIGBUS\n@rank 0\n@rank 1\n@rank 2\n0 step 0 100 step index=1\n");
  const auto ends = hang::process_ends_of(*run);
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends[0].pid, 11);
  EXPECT_EQ(ends[0].signal, 9);
  EXPECT_EQ(ends[1].signal, 0);
  EXPECT_EQ(ends[1].status, 1);
  EXPECT_EQ(ends[1].at_unix_ns, 6000);
  EXPECT_EQ(ends[2].rank, 1U) << "its rows are damaged, but its signal is named";
  EXPECT_EQ(ends[2].signal, 7);
  EXPECT_FALSE(ends[3].how_known);
  EXPECT_EQ(hang::signal_words(9), "SIGKILL");
}

}  // namespace
}  // namespace rankscope::analyzer
