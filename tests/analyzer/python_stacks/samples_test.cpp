// What samples of Python code stand for, and which differences the table names (metrics.md 9.9).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "analyzer/synthetic_run.h"
#include "python_stacks/samples.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_of;

constexpr std::int64_t ms = 1'000'000;

constexpr std::string_view head =
    "@run clock=same_host clock_error=1000\n@lane 0 main kind=thread number=1\n"
    "@lane 0 \"python stacks\" kind=thread number=2\n";

std::string sample(std::int64_t time, std::int64_t ns, std::string_view more = "") {
  return format("0 mark {} \"f a.py:3\" lane=\"python stacks\" ns={}{}\n", time, ns, more);
}

RankCode code_of(const std::string& text, const std::vector<TimeRange>& windows) {
  const auto run = run_of(std::string{head} + text);
  return PythonSamples{*run}.over(RankId{0}, windows);
}

TEST(PythonSamples, CarryNoTimeFromBeforeTheirStep) {
  const RankCode code =
      code_of("0 step 100 200 step index=0 lane=main\n" + sample(130, 5'000) + sample(160, 30) +
                  "0 mark 150 \"garbage collection\" lane=main ns=9000\n" + sample(170, 9'000, " worker=7"),
              {{at(100), at(200)}});
  ASSERT_EQ(code.lines.size(), 2U);
  EXPECT_EQ(code.lines[0].phase, CodePhase::worker);
  EXPECT_EQ(code.lines[0].ns, 70);
  EXPECT_EQ(code.lines[1].ns, 30 + 30);
  EXPECT_EQ(code.pauses_ns, 50);
}

TEST(PythonSamples, AreInTheRightPhaseWhereSpansOverlap) {
  // compute and data overlap and neither holds the other; afterwards the thread computes once more
  const RankCode code = code_of(
      "0 step 0 100 step index=0 lane=main\n0 op 1 10 first lane=main\n0 data 5 20 next lane=main\n"
      "0 op 30 40 second lane=main\n" +
          sample(15, 1),
      {{at(0), at(100)}});
  ASSERT_EQ(code.lines.size(), 1U);
  EXPECT_EQ(code.lines[0].phase, CodePhase::data);
}

TEST(PythonSamples, CountOnlyStepsThatTheSamplerSawTheEndOf) {
  const std::vector<TimeRange> windows{{at(0), at(100)}, {at(100), at(200)}, {at(200), at(300)}};
  const std::string end = "0 mark 250 \"samples end here\" lane=\"python stacks\"\n";
  const RankCode ended =
      code_of("0 step 0 300 step index=0 lane=main\n" + sample(50, 10) + sample(210, 10) + end, windows);
  EXPECT_EQ(ended.steps, 2);
  EXPECT_EQ(ended.samples, 1);
  const RankCode resumed =
      code_of("0 step 0 300 step index=0 lane=main\n" + sample(50, 10) + end + sample(280, 10), windows);
  EXPECT_EQ(resumed.steps, 3) << "another sampler went on";
  EXPECT_EQ(resumed.samples, 2);
}

/// Ranks whose steps of 100 ms go through 20 functions, of lengths that vary by 30 %, sampled about every 50 ms. One
/// function of one rank may take a share of the step that is larger by `more`.
std::string even_run(std::uint32_t ranks, int steps, std::uint64_t seed, double more = 0) {
  std::mt19937_64 dice{seed};
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform{0.5, 1.5};
  std::string text = "@run clock=same_host clock_error=1000\n";
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    text += format("@lane {0} main kind=thread number=1\n@lane {0} \"python stacks\" kind=thread number=2\n", rank);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (int step = 0; step < steps; ++step)
      text += format("{} step {} {} step index={} lane=main\n", rank, step * 100 * ms, (step + 1) * 100 * ms, step);
    double time = 0.05 * uniform(dice);
    while (time < 0.1 * steps) {
      std::array<double, 20> shares{};
      for (double& share : shares) share = std::max(0.1, 1 + 0.3 * normal(dice));
      if (rank == 1) shares[7] += more;
      std::discrete_distribution<int> function(shares.begin(), shares.end());
      text += format("{} mark {} \"f{} a.py:{}\" ns=50000000 lane=\"python stacks\"\n", rank, std::llround(time * 1e9),
                     function(dice), 10);
      time += 0.05 * uniform(dice);
    }
  }
  return text;
}

std::string table_of(const std::string& text) {
  const auto run = run_of(text);
  ReportOptions options;
  options.only = {"python_stacks"};
  return render_text(analyze(*run, options), *run, options, Colour::no);
}

TEST(PythonCode, OfAnEvenRunHasNoFunctionThatStandsOut) {
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    if (table_of(even_run(8, 100, seed)).find("a.py:10") != std::string::npos) ++named;
  EXPECT_LE(named, 1);
}

TEST(PythonCode, ThatTakesClearlyLongerIsNamed) {
  const std::string table = table_of(even_run(8, 400, 1, 2));
  EXPECT_THAT(table, HasSubstr("a.py:10"));
  EXPECT_THAT(table, Not(HasSubstr("No function")));
}

TEST(PythonCode, WithoutADifferenceSaysSo) {
  EXPECT_THAT(table_of(even_run(4, 40, 1)),
              HasSubstr("No function takes clearly longer on one rank than on the others."));
}

TEST(PythonCode, OfTheOnlySampledRankIsShownWithTheLinesThatTakeTheMostTime) {
  const std::string table = table_of(even_run(1, 40, 1, 5));
  EXPECT_THAT(table, HasSubstr("Only the code of rank 0 was sampled"));
  EXPECT_THAT(table, ::testing::ContainsRegex("f[0-9]+ +a.py:10 +host +[0-9.]+\n"));
}

}  // namespace
}  // namespace rankscope::analyzer
