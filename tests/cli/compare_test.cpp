// compare and gate: exit statuses and the sentence of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramResult;

struct Plan {
  int ranks = 2;
  int steps = 12;
  double forward_ms = 70;
  std::string dtype = "f32";
  std::uint64_t seed = 1;
  double stall_ms = 0;  ///< of rank 0 in each fourth step
  std::string more{};   ///< lines on losses
  std::string end{};    ///< how rank 1 ended
};

/// Steps of a forward pass, with 1 % of noise.
std::string run_text(const Plan& plan) {
  std::mt19937_64 random{plan.seed};
  std::normal_distribution<double> normal(1, 0.01);
  std::string text =
      "@run source=rankscope world_size=" + std::to_string(plan.ranks) + " clock=same_host clock_error=1000\n";
  text += plan.more;
  std::vector<std::int64_t> now(static_cast<std::size_t>(plan.ranks));
  for (int rank = 0; rank < plan.ranks; ++rank)
    text += "@rank " + std::to_string(rank) + " meta.dtype=" + plan.dtype + " meta.global_batch=32" +
            (rank == 1 ? plan.end : "") + "\n";
  for (int step = 0; step < plan.steps; ++step)
    for (int rank = 0; rank < plan.ranks; ++rank) {
      std::int64_t& begin = now[static_cast<std::size_t>(rank)];
      const auto length = static_cast<std::int64_t>(plan.forward_ms * 1e6 * normal(random));
      const auto span = [&](const char* kind, std::int64_t from, std::int64_t to, const std::string& rest) {
        text += std::to_string(rank) + " " + kind + " " + std::to_string(from) + " " + std::to_string(to) + " " + rest +
                "\n";
      };
      span("step", begin, begin + length + 2000, "step index=" + std::to_string(step));
      span("forward", begin + 1000, begin + 1000 + length, "forward");
      begin += length + 2000;
      if (rank == 0 && step % 4 == 3) begin += static_cast<std::int64_t>(plan.stall_ms * 1e6);
    }
  return text;
}

class TwoRuns : public ::testing::Test {
 protected:
  static ProgramResult rankscope(std::vector<std::string> words) {
    words.insert(words.begin(), RANKSCOPE_PROGRAM);
    return testing::run_program(words);
  }
  std::string write(const std::string& name, const Plan& plan) const {
    std::ofstream{folder_ / name} << run_text(plan);
    return (folder_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static ProgramResult gate(const std::string& run, const std::string& baseline, const std::string& limit = "3%") {
    return rankscope({"gate", run, "--baseline", baseline, "--max-regression", limit});
  }

  testing::TemporaryFolder folder_;
};

TEST_F(TwoRuns, ARunWithItselfIsUnchanged) {
  const auto a = write("a.txt", {});
  const auto result = rankscope({"compare", a, a});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("No change in the step time was found"));
  EXPECT_THAT(result.out, HasSubstr("Both runs are the same recording."));
  EXPECT_EQ(result.err, "");
}

TEST_F(TwoRuns, ASlowerRunIsSlowerInWordsAndInJson) {
  const auto a = write("a.txt", {});
  const auto b = write("b.txt", {.forward_ms = 80, .seed = 2});
  const auto result = rankscope({"compare", a, b, "--json", path("out.json"), "--html", path("out.html")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("B is 14."));
  EXPECT_THAT(result.out, HasSubstr("% slower than A."));
  const auto json = nlohmann::json::parse(testing::read_file(path("out.json")));
  EXPECT_EQ(json.at("schema"), "rankscope.compare/1");
  EXPECT_EQ(json.at("step_time").at("verdict"), "slower");
  EXPECT_EQ(json.at("keys").at("changed").size(), 1U);
  EXPECT_EQ(json.at("keys").at("changed").at(0).at("name"), "forward");
  EXPECT_FALSE(json.contains("gate"));
  EXPECT_THAT(testing::read_file(path("out.html")), HasSubstr("rankscope compare"));
}

TEST_F(TwoRuns, FewStepsCannotTellButTheFilesAreWritten) {
  const auto a = write("a.txt", {.steps = 4});
  const auto b = write("b.txt", {.seed = 2});
  const auto result = rankscope({"compare", a, b, "--json", path("out.json")});
  EXPECT_EQ(result.status, 4);
  EXPECT_THAT(result.err, HasSubstr("Cannot tell"));
  EXPECT_THAT(result.err, HasSubstr("A has 4 counted steps, but 10 are needed"));
  EXPECT_EQ(nlohmann::json::parse(testing::read_file(path("out.json"))).at("step_time").at("verdict"), "cannot_tell");
}

TEST_F(TwoRuns, AnAbsentRunIsNamed) {
  const auto a = write("a.txt", {});
  const auto result = rankscope({"compare", path("absent.rankscope"), a});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("absent.rankscope"));
  EXPECT_EQ(rankscope({"compare", a, path("absent.rankscope")}).status, 3);
  EXPECT_EQ(gate(a, path("absent.rankscope")).status, 3);
}

TEST_F(TwoRuns, AnOutputIsNeverAnInput) {
  const auto a = write("a.txt", {});
  const auto b = write("b.txt", {.seed = 2});
  for (const std::string& input : {a, b})
    for (const char* option : {"--json", "--html"}) {
      const auto result = rankscope({"compare", a, b, option, input});
      EXPECT_EQ(result.status, 2);
      EXPECT_THAT(result.err, HasSubstr("is the input"));
    }
  EXPECT_EQ(rankscope({"compare", a, b, "--json", path("x"), "--html", path("x")}).status, 2);
  EXPECT_EQ(rankscope({"compare", a, b, "--json", "/nonexistent/x.json"}).status, 5);
}

TEST_F(TwoRuns, StepsAndRanksMustBeInBothRuns) {
  const auto a = write("a.txt", {.ranks = 3});
  const auto b = write("b.txt", {.seed = 2});
  const auto result = rankscope({"compare", a, b, "--ranks", "2"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("b.txt: --ranks: the recording has no rank 2"));
  EXPECT_THAT(rankscope({"compare", a, b, "--steps", "50:60"}).err, HasSubstr("a.txt: --steps: "));
  EXPECT_EQ(rankscope({"compare", a, b, "--ranks", "0,1", "--allow-different"}).status, 0);
}

TEST_F(TwoRuns, TheGateOpensForAnEqualRunAndStaysShutForASlowerOne) {
  const auto base = write("base.txt", {});
  const auto equal = gate(write("equal.txt", {.seed = 2}), base);
  EXPECT_EQ(equal.status, 0) << equal.out << equal.err;
  EXPECT_THAT(equal.out, HasSubstr("PASS: the median step of the run is "));
  EXPECT_THAT(equal.out, HasSubstr("the limit is 3 %"));
  const auto slower = gate(write("slower.txt", {.forward_ms = 80, .seed = 3}), base);
  EXPECT_EQ(slower.status, 1);
  EXPECT_THAT(slower.out, HasSubstr("FAIL: "));
  EXPECT_THAT(slower.err, HasSubstr("95 % interval"));
  EXPECT_EQ(gate(path("slower.txt"), base, "20%").status, 0);
}

TEST_F(TwoRuns, TheGateStaysShutForARunThatStallsInEachFourthStep) {
  const auto base = write("base.txt", {.steps = 20});
  const auto stalling = gate(write("stalling.txt", {.steps = 20, .seed = 2, .stall_ms = 180}), base);
  EXPECT_EQ(stalling.status, 1) << stalling.out;
  EXPECT_THAT(stalling.out, HasSubstr("FAIL: the mean step of the run is "));
  EXPECT_THAT(stalling.out, HasSubstr("The median step takes "));
}

TEST_F(TwoRuns, TheGateOpensForTwentyEqualPairs) {
  for (std::uint64_t pair = 0; pair < 20; ++pair) {
    const auto base = write("base.txt", {.steps = 20, .seed = 2 * pair + 1});
    const auto equal = gate(write("equal.txt", {.steps = 20, .seed = 2 * pair + 2}), base);
    EXPECT_EQ(equal.status, 0) << pair << ": " << equal.out;
  }
}

TEST_F(TwoRuns, ThatAreNotIntactAreNotJudgedUnlessLossesAreAccepted) {
  const auto base = write("base.txt", {});
  const std::string not_intact = "the run is not intact: ";
  for (const auto& [plan, words] :
       {std::pair{Plan{.seed = 2, .more = "@quality segment_cut 1 a rank=1\n"}, "1 segment file of rank 1 was cut off"},
        std::pair{Plan{.seed = 2, .more = "@quality events_dropped 9\n"},
                  "9 events were dropped because the ring buffer"},
        std::pair{Plan{.seed = 2, .end = " ended=vanished:0"}, "rank 1 was killed, crashed or called _exit"}}) {
    const auto run = write("run.txt", plan);
    const auto refused = gate(run, base);
    EXPECT_EQ(refused.status, 4) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(not_intact + words));
    EXPECT_THAT(refused.out, AllOf(HasSubstr("To judge"), HasSubstr("--accept-losses.")));
    EXPECT_EQ(rankscope({"compare", base, run}).status, 4);
    const auto accepted =
        rankscope({"gate", run, "--baseline", base, "--max-regression", "3%", "--accept-losses", "--json", path("x")});
    EXPECT_EQ(accepted.status, 0) << accepted.out;
    EXPECT_THAT(accepted.out, HasSubstr("Losses were accepted (--accept-losses)"));
    EXPECT_EQ(nlohmann::json::parse(testing::read_file(path("x"))).at("losses_accepted"), true);
    EXPECT_EQ(rankscope({"compare", base, run, "--accept-losses"}).status, 0);
  }
}

TEST_F(TwoRuns, LossesOfRanksThatAreNotComparedDoNotChangeTheStatus) {
  const auto base = write("base.txt", {});
  const auto run = write("run.txt", {.seed = 2, .more = "@quality segment_cut 1 a rank=1\n"});
  const auto result = rankscope({"compare", base, run, "--ranks", "0"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("Losses outside the compared steps and ranks of B: 1 segment file of rank 1 was cut off."));
}

TEST_F(TwoRuns, TheGateCannotTellOfAnotherJob) {
  const auto base = write("base.txt", {});
  const auto larger = gate(write("larger.txt", {.ranks = 4}), base);
  EXPECT_EQ(larger.status, 4);
  EXPECT_THAT(larger.err, HasSubstr("CANNOT TELL: the runs are not of the same job: world size 2 against 4"));
  const auto dtype = gate(write("dtype.txt", {.dtype = "bf16", .seed = 2}), base);
  EXPECT_EQ(dtype.status, 4);
  EXPECT_THAT(dtype.err, HasSubstr("dtype f32 against bf16"));
  EXPECT_EQ(
      rankscope({"gate", path("dtype.txt"), "--baseline", base, "--max-regression", "5%", "--allow-different"}).status,
      0);
}

TEST_F(TwoRuns, CompareCannotTellOfAnotherJobUnlessDifferencesAreAllowed) {
  const auto base = write("base.txt", {});
  const auto larger = write("larger.txt", {.ranks = 4, .forward_ms = 40});
  const auto refused = rankscope({"compare", base, larger});
  EXPECT_EQ(refused.status, 4) << refused.out;
  EXPECT_THAT(refused.out, AllOf(HasSubstr("not of the same job"), Not(HasSubstr("% faster"))));
  EXPECT_THAT(refused.err, HasSubstr("not of the same job: world size 2 against 4"));
  const auto allowed = rankscope({"compare", base, larger, "--allow-different"});
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("% faster"));
}

TEST_F(TwoRuns, TheVerdictIsPrintedOnceWhereStdoutAndStderrAreOnePlace) {
  const auto base = write("base.txt", {});
  const auto run = write("few.txt", {.steps = 5});
  const auto one_place =
      testing::run_program({"/bin/sh", "-c", "\"$@\" 2>&1", "sh", RANKSCOPE_PROGRAM, "compare", base, run});
  EXPECT_THAT(one_place.out, HasSubstr("Cannot tell whether"));
  EXPECT_THAT(one_place.out, Not(HasSubstr("rankscope: Cannot tell")));
  EXPECT_THAT(rankscope({"compare", base, run}).err, HasSubstr("rankscope: Cannot tell"));
  EXPECT_THAT(rankscope({"compare", base, run, "--json", "-"}).err, HasSubstr("rankscope: Cannot tell"));
}

TEST_F(TwoRuns, TheGateCannotTellFromFewSteps) {
  const auto result = gate(write("few.txt", {.steps = 5}), write("base.txt", {}));
  EXPECT_EQ(result.status, 4);
  EXPECT_THAT(result.err, HasSubstr("CANNOT TELL: the run has 5 counted steps"));
}

TEST_F(TwoRuns, WrongOptionsOfTheGateAreNamed) {
  const auto a = write("a.txt", {});
  EXPECT_THAT(rankscope({"gate", a, "--max-regression", "3%"}).err, HasSubstr("--baseline is required"));
  EXPECT_THAT(rankscope({"gate", a, "--baseline", a}).err, HasSubstr("--max-regression is required"));
  for (const auto& [limit, words] : {std::pair{"abc", "is not a percentage"}, std::pair{"3", "has no unit; write 3%"},
                                     std::pair{"-1%", "is out of range"}, std::pair{"3%%", "is not a percentage"},
                                     std::pair{"nan%", "is not a percentage"}, std::pair{"1e9%", "is out of range"},
                                     std::pair{"%", "is not a percentage"}}) {
    const auto result = rankscope({"gate", a, "--baseline", a, std::string{"--max-regression="} + limit});
    EXPECT_EQ(result.status, 2) << limit;
    EXPECT_THAT(result.err, HasSubstr(words)) << limit;
  }
}

TEST_F(TwoRuns, HelpNamesTheExitStatuses) {
  EXPECT_THAT(rankscope({"gate", "--help"}).out, HasSubstr("Exit status: 0 pass, 1 "));
  EXPECT_THAT(rankscope({"compare", "--help"}).out, HasSubstr("Exit status: 0 compared, "));
  EXPECT_THAT(rankscope({"compare", "--help"}).out, HasSubstr("--accept-losses"));
}

}  // namespace
}  // namespace rankscope
