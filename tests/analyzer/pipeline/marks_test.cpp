// Which actions a recording marks, and which ranks form a pipeline, from small recordings of known order.
#include "pipeline/marks.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analyzer/synthetic_run.h"
#include "pipeline/parts.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view clocks = "@run clock=same_host clock_error=1000\n";
constexpr std::string_view sends =
    "@group pp 0,1\n"
    "0 comm 10 12 send group=pp peer=1\n"
    "1 comm 10 12 recv group=pp peer=0\n";

Section<PipelineSection> pipeline_of(const std::string& text) {
  const auto run = run_of(std::string{clocks} + text);
  const ClockTrust trust{*run};
  return find_pipeline(*run, trust, find_steps(*run, trust, {}).section);
}

PipelineSection section_of(const std::string& text) {
  auto section = pipeline_of(text);
  EXPECT_TRUE(section) << section.error().why;
  return section.value_or(PipelineSection{});
}

std::string lanes_of(int rank) {
  return format(
      "@device {0} 0 name=GPU\n@lane {0} main kind=thread number=1\n@lane {0} s7 kind=stream number=7 device=0\n"
      "@lane {0} a7 kind=annotation number=7 device=0\n@lane {0} a30 kind=annotation number=30 device=0\n",
      rank);
}

/// An annotation with work on two streams: on the second one it begins `late` after, and ends 2 ns later.
std::string on_two_streams(int rank, int begin, int end, std::string_view name, int late) {
  return format("{0} user {1} {2} {3} lane=a7\n{0} user {4} {5} {3} lane=a30\n", rank, begin, end, name, begin + late,
                end + 2);
}

TEST(PipelineMarks, AnActionWithWorkOnSeveralStreamsCountsOnce) {
  std::string text = lanes_of(0) + lanes_of(1) + std::string{sends};
  text += "0 compute 0 100 gemm lane=s7\n1 compute 12 80 gemm lane=s7\n";
  // Beside one another, and the second stream's work after that of the first one.
  text += on_two_streams(0, 0, 10, "PP:0F0", 4) + on_two_streams(0, 13, 20, "PP:0F1", 8);
  text += on_two_streams(0, 60, 70, "PP:0B0", 0) + on_two_streams(0, 75, 85, "PP:0B1", 1);
  text += on_two_streams(1, 13, 23, "PP:1F0", 1) + on_two_streams(1, 26, 36, "PP:1F1", 1);
  text += on_two_streams(1, 40, 50, "PP:1B0", 1) + on_two_streams(1, 55, 65, "PP:1B1", 1);
  const PipelineSection section = section_of(text);
  EXPECT_EQ(section.schedule, PipelineSchedule::gpipe) << section.why_unknown;
  ASSERT_EQ(section.places.size(), 2U);
  EXPECT_EQ(section.places[1].forward_ns, 12);
  ASSERT_TRUE(section.drawn);
  EXPECT_EQ(section.drawn->actions.size(), 8U);
}

TEST(PipelineMarks, TheSameActionAgainOnOneStreamIsAnotherOne) {
  std::string text =
      lanes_of(0) + lanes_of(1) + std::string{sends} + "0 compute 0 9 g lane=s7\n1 compute 0 9 g lane=s7\n";
  for (const int begin : {0, 1000}) {
    text += format("0 step {} {} step index={} lane=main\n1 step {} {} step index={} lane=main\n", begin, begin + 999,
                   begin / 1000, begin, begin + 999, begin / 1000);
    text += on_two_streams(0, begin + 10, begin + 20, "PP:0F0", 1);
    text += on_two_streams(1, begin + 30, begin + 40, "PP:1F0", 1);
  }
  const auto run = run_of(std::string{clocks} + text);
  const auto ranks = marked_actions(*run);
  ASSERT_TRUE(ranks);
  ASSERT_EQ(ranks->size(), 2U);
  EXPECT_EQ((*ranks)[0].actions.size(), 2U);
}

/// One micro-batch through two ranks with the stages given.
std::string one_by_one(int first, int first_stage, int second, int second_stage) {
  return format("{0} user 0 10 PP:{1}F0\n{0} user 60 80 PP:{1}B0\n{2} user 12 22 PP:{3}F0\n{2} user 32 52 PP:{3}B0\n",
                first, first_stage, second, second_stage);
}

TEST(PipelineMarks, WhereAStageMayBeMissingThereIsNoTheory) {
  const PipelineSection section = section_of(
      "@group pp 0,1,2\n0 comm 10 12 send group=pp peer=1\n1 comm 10 12 recv group=pp peer=0\n"
      "1 comm 22 24 send group=pp peer=2\n" +
      one_by_one(0, 0, 1, 1));
  EXPECT_TRUE(section.bubble_measured.value);
  EXPECT_FALSE(section.bubble_theory.value);
  EXPECT_FALSE(section.parts);
  EXPECT_NE(section.why_no_parts.find("rank 1 sends to or receives from rank 2"), std::string::npos)
      << section.why_no_parts;
}

TEST(PipelineMarks, RanksOfOneStageThatSendToOneAnotherAreNotPlacesOfOnePipeline) {
  const PipelineSection section = section_of(
      "@group pp0 0,2\n@group pp1 1,3\n@group cp0 0,1\n"
      "0 comm 2 4 send group=cp0 peer=1\n1 comm 2 4 recv group=cp0 peer=0\n"
      "0 comm 10 12 send group=pp0 peer=2\n2 comm 10 12 recv group=pp0 peer=0\n"
      "1 comm 10 12 send group=pp1 peer=3\n3 comm 10 12 recv group=pp1 peer=1\n" +
      one_by_one(0, 0, 2, 1) + one_by_one(1, 0, 3, 1));
  EXPECT_EQ(section.pipelines, 2);
  EXPECT_EQ(section.shape.ranks, 2);
}

TEST(PipelineMarks, APipelineWithOneStageOnTwoRanksIsRefused) {
  const auto section = pipeline_of(
      "@group pp 0,1,2\n0 comm 10 12 send group=pp peer=1\n1 comm 10 12 recv group=pp peer=0\n"
      "0 comm 12 14 send group=pp peer=2\n2 comm 12 14 recv group=pp peer=0\n" +
      one_by_one(0, 0, 1, 1) + "2 user 14 24 PP:1F0\n2 user 34 54 PP:1B0\n");
  ASSERT_FALSE(section);
  EXPECT_NE(section.error().why.find("ranks 1 and 2 both have stage 1"), std::string::npos) << section.error().why;
}

}  // namespace
}  // namespace rankscope::analyzer
