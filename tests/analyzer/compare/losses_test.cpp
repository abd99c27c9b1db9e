// What a comparison finds missing in a run, and what it says then (metrics.md 17.4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "compare/loss_words.h"
#include "rankscope/analyzer/compare/render_comparison.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::run_of;
using Texts = std::vector<std::string>;

struct StepsOfRank {
  int rank = 0;
  int first = 0;
  int last = 23;
};

/// Steps of 100 ms, of which each rank has some.
std::string steps_text(const std::vector<StepsOfRank>& ranks) {
  std::string text;
  for (const StepsOfRank& own : ranks)
    for (int step = own.first; step <= own.last; ++step) {
      const std::int64_t begin = std::int64_t{step} * 100'000'000;
      text += format("{} step {} {} step index={}\n{} forward {} {} forward\n", own.rank, begin, begin + 99'000'000,
                     step, own.rank, begin + 1000, begin + 90'000'000);
    }
  return text;
}

const std::string four_ranks = steps_text({{0}, {1}, {2}, {3}});
constexpr std::string_view head = "@run source=rankscope world_size=4 clock=same_host clock_error=1000";

/// With facts of the run and lines on its processes and losses.
std::shared_ptr<const Run> run_with(std::string_view facts, std::string_view lines,
                                    std::string_view steps = four_ranks) {
  return run_of(format("{} {}\n{}{}", head, facts, lines, steps));
}

RunDigest digest_of(const Run& run, const ReportOptions& options = {}, std::string label = "B") {
  return digest(run, options, {std::move(label), "b"});
}

ReportOptions of_ranks(std::vector<RankId> ranks) {
  ReportOptions options;
  options.ranks = std::move(ranks);
  return options;
}
ReportOptions of_steps(std::int64_t first, std::int64_t last) {
  ReportOptions options;
  options.steps = {first, last};
  return options;
}

/// What is missing in the compared steps and ranks, and elsewhere.
Texts lost(const Run& run, LossReach reach = LossReach::compared, const ReportOptions& options = {}) {
  Texts texts;
  for (const Loss& loss : digest_of(run, options).lost)
    if (loss.reach == reach) texts.push_back(loss.what);
  return texts;
}

Texts lost_elsewhere(const Run& run, const ReportOptions& options) { return lost(run, LossReach::elsewhere, options); }

const std::string intact_ends =
    "@rank 0 ended=exited:0\n@rank 1 ended=exited:0\n@rank 2 ended=exited:0\n@rank 3 ended=exited:0\n";

TEST(Losses, OfAnIntactRunAreNone) {
  const auto run = run_with("meta.exit_status=0 meta.role=trainer meta.steps=24", intact_ends);
  EXPECT_THAT(digest_of(*run).lost, IsEmpty());
}

TEST(Losses, EveryCounterOfLostDataIsOneExceptThoseThatConcernNoStep) {
  for (const CounterInfo& info : counter_table()) {
    const bool concerns_steps =
        info.counter != Counter::pm_samples_dropped && info.counter != Counter::comm_groups_unknown;
    if (info.severity != Severity::data_loss) continue;
    const auto run = run_with("", format("@quality {} 2\n", info.name));
    EXPECT_EQ(lost(*run).size(), concerns_steps ? 1U : 0U) << info.name;
  }
}

TEST(Losses, DamagedHeadersAndManifestsMayHideOthers) {
  EXPECT_THAT(lost(*run_with("", "@quality header_damaged 1 a rank=2\n")),
              ElementsAre("1 segment file of rank 2 was found with a damaged header"));
  EXPECT_THAT(lost(*run_with("", "@quality manifest_damaged 1 a\n")), ElementsAre("1 manifest was damaged"));
}

TEST(Losses, NameTheirRanksAndAddUp) {
  const auto run = run_with("", "@quality events_dropped 5 a rank=3\n@quality events_dropped 7 b rank=1\n");
  EXPECT_THAT(lost(*run), ElementsAre("12 events of ranks 1, 3 were dropped because the ring buffer was full"));
  const auto cut = run_with("", "@quality segment_cut 1 a rank=2\n");
  EXPECT_THAT(lost(*cut), ElementsAre("1 segment file of rank 2 was cut off"));
}

TEST(Losses, OfUnknownRanksMayBeOfAnyOfThem) {
  const auto run = run_with("", "@quality events_dropped 5\n");
  EXPECT_THAT(lost(*run, LossReach::compared, of_ranks({RankId{1}})),
              ElementsAre("5 events were dropped because the ring buffer was full"));
}

TEST(Losses, OfRanksThatAreNotComparedAreElsewhere) {
  const auto run = run_with("", "@quality events_dropped 5 a rank=3\n");
  const ReportOptions options = of_ranks({RankId{0}, RankId{1}});
  EXPECT_THAT(lost(*run, LossReach::compared, options), IsEmpty());
  EXPECT_THAT(lost_elsewhere(*run, options), ElementsAre(HasSubstr("5 events of rank 3")));
}

/// The chunk was lost while rank 1 was in step 18.
constexpr std::string_view lost_in_step_18 = "@quality chunks_missing 1 a rank=1 time=1810000000:1830000000\n";

TEST(Losses, AtTimesOfOtherStepsThanThoseAskedForAreElsewhere) {
  const auto run = run_with("", lost_in_step_18);
  EXPECT_THAT(lost(*run).size(), 1U) << "all steps";
  EXPECT_THAT(lost_elsewhere(*run, of_steps(0, 15)), ElementsAre(HasSubstr("1 chunk of rank 1")));
  EXPECT_THAT(lost_elsewhere(*run, of_steps(19, 23)).size(), 1U);
  EXPECT_THAT(lost_elsewhere(*run, of_steps(10, 18)), IsEmpty());
  EXPECT_THAT(lost_elsewhere(*run, of_steps(5, to_the_end)), IsEmpty());
}

TEST(Losses, AfterTheLastRecordedStepMayHideStepsAskedFor) {
  const auto run = run_with("", "@quality chunks_missing 1 a rank=1 time=2500000000:2600000000\n");
  EXPECT_THAT(lost_elsewhere(*run, of_steps(0, 23)).size(), 1U);
  EXPECT_THAT(lost_elsewhere(*run, of_steps(0, 30)), IsEmpty());
}

TEST(Losses, AtAnUnknownTimeMayConcernAllSteps) {
  const auto run = run_with("", "@quality segment_cut 1 a rank=1\n");
  EXPECT_THAT(lost(*run, LossReach::compared, of_steps(0, 9)).size(), 1U);
}

TEST(Losses, AnEndWithAnErrorIsOne) {
  EXPECT_THAT(lost(*run_with("", "@rank 1 ended=exited:3\n@rank 2 ended=exited:3\n")),
              ElementsAre("ranks 1, 2 exited with status 3"));
  EXPECT_THAT(lost(*run_with("", "@rank 3 ended=vanished:0\n")),
              ElementsAre("rank 3 was killed, crashed or called _exit"));
  EXPECT_THAT(lost(*run_with("", "@rank 1 ended=vanished:0\n@rank 3 ended=vanished:0\n")),
              ElementsAre("ranks 1, 3 were killed, crashed or called _exit"));
  EXPECT_THAT(lost(*run_with("meta.exit_status=137", "")), ElementsAre("the command ended with status 137 (signal 9)"));
  EXPECT_THAT(lost(*run_with("meta.exit_status=2", "")), ElementsAre("the command ended with status 2"));
  EXPECT_THAT(lost(*run_with("meta.stopped_by=SIGTERM", "")), ElementsAre("the job was stopped by SIGTERM"));
  EXPECT_THAT(lost(*run_with("meta.stopped_by=duration", "")), IsEmpty()) << "as the recorder was told to";
  EXPECT_THAT(lost(*run_with("meta.still_running=\"2 of 4 processes\"", "")),
              ElementsAre("the job is still running (2 of 4 processes)"));
}

TEST(Losses, AWorkerOfARankThatIsKilledAtTheEndIsNone) {
  const std::string worker = "@rank 1 pid=7 ended=vanished:0\n1 data 1000 2000 load\n@rank 1 pid=1 ended=exited:0\n";
  EXPECT_THAT(lost(*run_with("", worker)), IsEmpty());
}

TEST(Losses, AFirstProcessOfARestartedRankIsOne) {
  const std::string first =
      "@rank 1 pid=7 ended=exited:1\n1 step -2000 -1000 step index=0\n@rank 1 pid=1 ended=exited:0\n";
  EXPECT_THAT(lost(*run_with("", first)), ElementsAre("rank 1 exited with status 1"));
}

TEST(Losses, RanksWithoutARecordingAreOneUnlessOthersAreAskedFor) {
  const auto run = run_with("", "", steps_text({{0}, {2}}));
  EXPECT_THAT(lost(*run), ElementsAre("ranks 1, 3 (of 4) were not recorded"));
  EXPECT_THAT(lost_elsewhere(*run, of_ranks({RankId{0}, RankId{2}})),
              ElementsAre("ranks 1, 3 (of 4) were not recorded"));
}

TEST(Losses, StepsThatOnlySomeRanksHaveAreOne) {
  const auto run = run_with("", "", steps_text({{0}, {1, 0, 11}, {2}, {3, 0, 11}}));
  EXPECT_THAT(lost(*run), ElementsAre("ranks 1, 3 lack 12 steps (12 to 23) that other ranks have"));
  EXPECT_THAT(lost(*run, LossReach::compared, of_steps(0, 11)), IsEmpty());
  EXPECT_THAT(lost(*run, LossReach::compared, of_steps(0, 13)),
              ElementsAre("ranks 1, 3 lack 2 steps (12 to 13) that other ranks have"));
}

TEST(Losses, StepsAtTheEndsAreNotMissingIfOnlyAPartWasToBeRecorded) {
  const std::string until_stopped = steps_text({{0}, {1, 0, 22}, {2, 1, 23}, {3}});
  std::string lines;
  for (int rank = 0; rank < 4; ++rank) lines += format("@rank {} meta.stopped_by=duration\n", rank);
  EXPECT_THAT(lost(*run_with("", lines, until_stopped)), IsEmpty());
  EXPECT_THAT(lost(*run_with("", "", until_stopped)).size(), 2U);
}

TEST(Losses, StepsThatTheTrainerWasToMakeAreOne) {
  EXPECT_THAT(lost(*run_with("meta.role=trainer meta.steps=40", "")),
              ElementsAre("16 of the 40 steps that the trainer was told to run were not recorded (24 to 39)"));
  EXPECT_THAT(lost(*run_with("meta.role=trainer meta.steps=40", ""), LossReach::compared, of_steps(5, 23)), IsEmpty());
  EXPECT_THAT(lost(*run_with("meta.steps=40", "")), IsEmpty()) << "it may mean something else";
  EXPECT_THAT(lost(*run_with("meta.role=trainer meta.steps=9000000000000", "")).size(), 1U) << "a damaged fact";
  const auto resumed = run_with("meta.role=trainer meta.steps=24 meta.resumed_at_step=10", "",
                                steps_text({{0, 10}, {1, 10}, {2, 10}, {3, 10}}));
  EXPECT_THAT(lost(*resumed), IsEmpty());
}

/// The sentences on B.
Texts lost_beside(const Run& a, const Run& b, const ReportOptions& options = {}) {
  Texts texts;
  for (const Loss& loss : compare(digest_of(a, options, "A"), digest_of(b, options)).b.lost) texts.push_back(loss.what);
  return texts;
}

TEST(Losses, ARankWithoutStepsIsOneIfItHasStepsInTheOtherRun) {
  const auto with = run_with("", "");
  const auto without = run_with("", "", steps_text({{0}, {1}, {2}}) + "3 forward 0 1000 forward\n");
  EXPECT_THAT(lost_beside(*with, *without), ElementsAre("rank 3 has no steps, but has steps in A"));
  EXPECT_THAT(lost_beside(*without, *without), IsEmpty()) << "as a server may have none";
}

TEST(Losses, StepsAskedForByNumberAreOneIfOnlyTheOtherRunHasThem) {
  const auto longer = run_with("", "");
  const auto shorter = run_with("", "", steps_text({{0, 0, 17}, {1, 0, 17}, {2, 0, 17}, {3, 0, 17}}));
  EXPECT_THAT(
      lost_beside(*longer, *shorter, of_steps(0, 20)),
      ElementsAre("3 of the selected steps (18 to 20) are missing on at least one rank, but A has these steps"));
  EXPECT_THAT(lost_beside(*longer, *shorter, of_steps(0, to_the_end)), IsEmpty());
  EXPECT_THAT(lost_beside(*longer, *shorter), IsEmpty()) << "it may have been told to make fewer";
}

TEST(StepList, NamesAFewRanges) {
  const auto list_of = [](const std::vector<std::int64_t>& steps) { return step_list(ranges_of(steps)); };
  EXPECT_EQ(list_of({7}), "7");
  EXPECT_EQ(list_of({3, 4, 5, 9}), "3 to 5, 9");
  EXPECT_EQ(list_of({1, 3, 5, 7, 9}), "1, 3, 5 and others");
  EXPECT_EQ(count_of(ranges_of(std::vector<std::int64_t>{3, 4, 5, 9})), 4);
}

struct CutRun {
  std::shared_ptr<const Run> whole = run_with("", "");
  std::shared_ptr<const Run> cut = run_with("", "@quality segment_cut 1 a rank=2\n");

  [[nodiscard]] Comparison compared(Losses losses, const ReportOptions& options = {}) const {
    return compare(digest_of(*whole, options, "the baseline"), digest_of(*cut, options, "the run"), losses);
  }
};

TEST(CutRun, IsNotJudged) {
  const Comparison found = CutRun{}.compared(Losses::refused);
  EXPECT_EQ(found.steps.verdict, StepVerdict::cannot_tell);
  EXPECT_EQ(found.steps.why, "the run is not intact: 1 segment file of rank 2 was cut off");
  const Gate gate = judge(found, 0.03, Likes::must_agree);
  EXPECT_EQ(gate.verdict, GateVerdict::cannot_tell);
  EXPECT_EQ(gate.why, found.steps.why);
  const std::string text = render_text({found, gate}, Colour::no);
  EXPECT_THAT(text, AllOf(HasSubstr("CANNOT TELL: the run is not intact: 1 segment file of rank 2 was cut off."),
                          HasSubstr("To judge the recorded data anyway, use --accept-losses.")));
}

TEST(CutRun, IsJudgedByWhatIsThereIfLossesAreAccepted) {
  const Comparison found = CutRun{}.compared(Losses::accepted);
  EXPECT_EQ(found.steps.verdict, StepVerdict::unchanged);
  const Gate gate = judge(found, 0.03, Likes::must_agree);
  EXPECT_EQ(gate.verdict, GateVerdict::pass);
  const ComparisonView view{found, gate};
  EXPECT_THAT(render_text(view, Colour::no),
              AllOf(HasSubstr("Losses were accepted (--accept-losses): only the recorded data is judged."),
                    HasSubstr("The run is not intact (accepted with --accept-losses): 1 segment file of rank 2 was")));
  const auto json = nlohmann::json::parse(render_json(view));
  EXPECT_EQ(json.at("losses_accepted"), true);
  EXPECT_EQ(json.at("b").at("lost").at(0).at("id"), "segment_cut");
  EXPECT_EQ(json.at("b").at("lost").at(0).at("compared"), true);
  EXPECT_THAT(json.at("a").at("lost"), IsEmpty());
}

TEST(CutRun, OfARankThatIsNotComparedIsJudgedAndTheLossIsShown) {
  const Comparison found = CutRun{}.compared(Losses::refused, of_ranks({RankId{0}, RankId{1}}));
  EXPECT_EQ(found.steps.verdict, StepVerdict::unchanged);
  const std::string text = render_text({found, std::nullopt}, Colour::no);
  EXPECT_THAT(
      text, HasSubstr("Losses outside the compared steps and ranks of the run: 1 segment file of rank 2 was cut off."));
  EXPECT_THAT(text, Not(HasSubstr("--accept-losses")));
}

TEST(CutRun, MayBeTheBaselineToo) {
  const CutRun runs;
  const Comparison found =
      compare(digest_of(*runs.cut, {}, "the baseline"), digest_of(*runs.cut, {}, "the run"), Losses::refused);
  EXPECT_THAT(found.steps.why, AllOf(HasSubstr("the baseline is not intact"), HasSubstr("the run is not intact")));
}

TEST(LostRank, OfOneWorldIsNoOtherJobIfLossesAreAccepted) {
  const auto whole = run_with("", "");
  const auto without_rank_3 = run_with("", "", steps_text({{0}, {1}, {2}}));
  const auto gate_of = [&](Losses losses) {
    return judge(compare(digest_of(*whole, {}, "A"), digest_of(*without_rank_3), losses), 0.03, Likes::must_agree);
  };
  EXPECT_EQ(gate_of(Losses::refused).verdict, GateVerdict::cannot_tell);
  EXPECT_EQ(gate_of(Losses::refused).why, "B is not intact: rank 3 (of 4) was not recorded");
  EXPECT_EQ(gate_of(Losses::accepted).verdict, GateVerdict::pass);
}

}  // namespace
}  // namespace rankscope::analyzer
