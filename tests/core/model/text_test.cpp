#include "rankscope/core/model/text.h"
#include "rankscope/core/model/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace rankscope {
namespace {

std::string to_text(const Run& run) {
  std::ostringstream out;
  write_text(run, out);
  return out.str();
}

TEST(TextForm, FiveWordsAreASpan) {
  const auto run = run_from_text("0 compute 0 60 gemm\n0 comm 40 90 all_reduce\n");
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->spans().size(), 2U);
  EXPECT_EQ((*run)->lanes().size(), 2U);
  EXPECT_EQ((*run)->extent(), (TimeRange{at(0), at(90)}));
  EXPECT_TRUE((*run)->has_accelerator(RankId{0}));
}

TEST(TextForm, AWholeRunSurvivesTheWayOutAndIn) {
  const std::string text =
      "@run source=rankscope world_size=2 clock=same_host clock_error=1000 meta.model=mlp\n"
      "@group dp 0,1\n"
      "@rank 0 pid=11 host=n0 program=train local_rank=0 recorded=0:500 ended=exited:0 meta.role=trainer\n"
      "@lane 0 main kind=thread number=11\n"
      "0 step 0 100 step index=0\n"
      "0 forward 10 40 \"for ward\" lane=main note=\"12\"\n"
      "0 wait 40 90 wait\n"
      "0 comm 30 80 allreduce group=dp seq=0 bytes=4096 dtype=f32 enqueued=25 on=main lane=comm\n"
      "0 comm 130 - allreduce group=dp seq=1 bytes=4096\n"
      "0 counter 50 1024.5 rss_bytes\n"
      "@device 0 1 name=\"H200 NVL\" uuid=GPU-1 meta.numSms=132\n"
      "@lane 0 \"stream 7\" kind=stream number=7 device=1\n"
      "0 compute 60 70 gemm lane=\"stream 7\" grid=@\"[4, 2, 1]\" at=\"@\\\"x\" correlation=-9223372036854775808\n"
      "@link launch 1 4\n"
      "0 mark 60 here bytes=-5 what=free\n"
      "@rank 1 pid=12 ended=vanished:0\n"
      "1 step 0 100 step index=0 cut=end\n"
      "@quality events_dropped 3\n";
  const auto first = run_from_text(text);
  ASSERT_TRUE(first) << first.error().message;
  const std::string once = to_text(**first);
  const auto second = run_from_text(once);
  ASSERT_TRUE(second) << second.error().message << "\n" << once;
  EXPECT_EQ(once, to_text(**second));
  EXPECT_EQ((*second)->collectives().size(), 2U);
  EXPECT_EQ((*second)->collectives()[1].state, CommState::enqueued);
  EXPECT_EQ((*second)->quality().of(Counter::events_dropped), 3U);
  EXPECT_EQ((*second)->quality().of(Counter::collectives_open), 1U);
  EXPECT_EQ((*second)->number(SpanId{0}, "index"), 0);
  ASSERT_EQ((*second)->links().size(), 1U);
  const SpanId gemm = (*second)->links()[0].to;
  EXPECT_EQ((*second)->text((*second)->span(gemm).name), "gemm");
  EXPECT_EQ((*second)->number(gemm, "correlation"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((*second)->attributes_of(gemm).begin()->value.kind, AttributeKind::json);
  EXPECT_EQ((*second)->links_to(LinkKind::launch, gemm).size(), 1U);
  EXPECT_EQ((*second)->devices().size(), 1U);
  EXPECT_THAT(once, testing::HasSubstr("mark 60 here lane=main bytes=-5 what=free"));
}

TEST(TextForm, ALossMaySayWhoseDataItWasAndWhen) {
  const auto run = run_from_text(
      "@quality chunks_missing 2 \"a.rseg (rank 1)\" rank=1 time=10:20\n@quality chunks_missing 1 rank=0\n0 op 0 9 "
      "a\n");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::chunks_missing), 3U);
  EXPECT_THAT((*run)->info().places, testing::ElementsAre(QualityPlace{Counter::chunks_missing, 2, "a.rseg (rank 1)",
                                                                       RankId{1}, TimeRange{at(10), at(20)}},
                                                          QualityPlace{Counter::chunks_missing, 1, "", RankId{0}}));
  const auto again = run_from_text(to_text(**run));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->info().places, (*run)->info().places);
  const auto wrong = run_from_text("@quality chunks_missing 2 here step=4\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, testing::HasSubstr("line 1: @quality has no field 'step'"));
}

TEST(TextForm, AnAttributeMayBearAnyName) {
  const auto first = run_from_text(
      "@group dp 0,1\n"
      "0 comm 30 80 allreduce group=dp bytes=4096 dtype=f32 \"dtype\"=Half \"bytes\"=12 \"lane\"=left\n"
      "0 mark 60 here lane=main \"lane\"=right\n");
  ASSERT_TRUE(first) << first.error().message;
  const std::string once = to_text(**first);
  const auto second = run_from_text(once);
  ASSERT_TRUE(second) << second.error().message << "\n" << once;
  EXPECT_EQ(once, to_text(**second));
  EXPECT_EQ((*second)->number(SpanId{0}, "bytes"), 12);
  EXPECT_EQ((*second)->collectives()[0].bytes, 4096);
  EXPECT_EQ((*second)->text((*second)->collectives()[0].dtype), "f32");
  EXPECT_FALSE((*second)->attributes_of((*second)->marks()[0]).empty());
}

TEST(TextForm, GroupsOfOneNameAreToldApartByTheirRanks) {
  const auto first = run_from_text(
      "@group dp 0,1\n@group dp 2,3\n@group dp 0,2\n"
      "0 comm 30 80 allreduce group=dp members=0,1\n"
      "1 comm 30 80 allreduce group=dp\n"
      "2 comm 30 80 allreduce group=dp members=2,3\n"
      "3 comm 30 80 allreduce group=dp\n");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = run_from_text(to_text(**first));
  ASSERT_TRUE(second) << second.error().message;
  const auto ranks_with = [&](std::size_t row) {
    const auto& run = **second;
    return run.groups()[run.collectives()[row].group.index()].members;
  };
  EXPECT_EQ(ranks_with(0), ranks_with(1));
  EXPECT_EQ(ranks_with(2), ranks_with(3));
  EXPECT_EQ(ranks_with(2), (std::vector{RankId{2}, RankId{3}}));
  EXPECT_EQ(run_from_text("@group dp 0,1\n0 comm 1 2 x group=dp members=0,3\n").error().message,
            "line 2: the line '@group dp 0,3' must come before this line");
}

TEST(TextForm, AGroupWithoutMembersIsReadBack) {
  const auto first = run_from_text(
      "@group dp \"\"\n@group dp 0,1\n"
      "0 comm 30 80 allreduce group=dp members=\"\"\n0 comm 90 95 allreduce group=dp\n");
  ASSERT_TRUE(first) << first.error().message;
  const std::string text = to_text(**first);
  const auto second = run_from_text(text);
  ASSERT_TRUE(second) << second.error().message << '\n' << text;
  EXPECT_EQ(to_text(**second), text);
  std::vector<std::size_t> sizes;
  for (const Collective& row : (*second)->collectives())
    sizes.push_back((*second)->groups()[row.group.index()].members.size());
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{0, 2}));
}

TEST(TextForm, AnErrorNamesTheLine) {
  EXPECT_EQ(run_from_text("0 compute 0 60 gemm\n0 banana 1 2 x\n").error().message,
            "line 2: 'banana' is not a kind of span");
  EXPECT_FALSE(run_from_text(""));
  EXPECT_FALSE(run_from_text("0 compute 0 sixty gemm\n"));
}

TEST(TextForm, DepthCountsTheEnclosingSpans) {
  const auto run = run_from_text("0 step 0 100 s\n0 forward 10 50 f\n0 op 20 30 a\n0 backward 50 90 b\n");
  ASSERT_TRUE(run);
  std::vector<int> depths;
  for (const Span& span : (*run)->spans()) depths.push_back(span.depth);
  EXPECT_EQ(depths, (std::vector<int>{0, 1, 2, 1}));
}

TEST(TextForm, ACollectiveMayHaveNoKnownGroup) {
  const auto run = run_from_text("0 comm 40 90 allreduce group=- seq=-1\n");
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->collectives().size(), 1U);
  EXPECT_FALSE((*run)->collectives().front().group.is_set());
  std::ostringstream text;
  write_text(**run, text);
  EXPECT_NE(text.str().find("allreduce lane=comm group=- seq=-1"), std::string::npos) << text.str();
}

}  // namespace
}  // namespace rankscope
