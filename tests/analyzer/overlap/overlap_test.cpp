#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

using testing::make;
using testing::run_of;

Section<OverlapSection> overlap_in(std::string_view text) { return analyze(*run_of(text), {}).overlap; }

// One GPU: 100 of compute; an allreduce over its second half and beyond it, and a broadcast inside the allreduce.
constexpr std::string_view gpu =
    "@run clock=same_host clock_error=10\n"
    "@group dp 0,1\n"
    "@rank 0 pid=1 host=n0\n@rank 1 pid=2 host=n0\n"
    "@lane 0 s7 kind=stream number=7 device=0\n@lane 0 s8 kind=stream number=8 device=0\n"
    "@lane 0 s9 kind=stream number=9 device=0\n@lane 1 s7 kind=stream number=7 device=0\n"
    "@lane 1 s8 kind=stream number=8 device=0\n@lane 1 s9 kind=stream number=9 device=0\n"
    "0 compute 0 100 gemm lane=s7\n"
    "0 comm 50 150 allreduce group=dp seq=0 bytes=64 dtype=f32 lane=s8\n"
    "0 comm 60 120 broadcast group=dp seq=1 bytes=64 dtype=f32 lane=s9\n"
    "1 compute 0 100 gemm lane=s7\n"
    "1 comm 50 150 allreduce group=dp seq=0 bytes=64 dtype=f32 lane=s8\n"
    "1 comm 140 160 broadcast group=dp seq=1 bytes=64 dtype=f32 lane=s9\n";

TEST(Overlap, EachInstantIsChargedToTheOperationThatBeganFirst) {
  const auto section = overlap_in(gpu);
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->rows.size(), 2U);
  const OverlapRow& allreduce = section->rows[0];
  EXPECT_EQ(allreduce.group, "dp");
  EXPECT_EQ(allreduce.op, "allreduce");
  EXPECT_EQ(allreduce.count, 2);
  EXPECT_EQ(allreduce.comm_ns, 200);
  EXPECT_EQ(allreduce.overlapped_ns, 100);
  EXPECT_EQ(allreduce.exposed_ns(), 100);
  const OverlapRow& broadcast = section->rows[1];
  EXPECT_EQ(broadcast.comm_ns, 10) << "rank 0's is inside the allreduce, rank 1's ends 10 behind it";
  EXPECT_EQ(broadcast.exposed_ns(), 10);
}

TEST(Overlap, RowsAndStepsAddUpToTheSplit) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Report report = analyze(*make({.steps = 30, .noise = 0.1, .seed = seed}), {});
    ASSERT_TRUE(report.overlap);
    std::int64_t comm = 0;
    std::int64_t overlapped = 0;
    for (const RankRow& row : *report.rank_rows) {
      comm += row.total.comm_ns;
      overlapped += row.total.overlapped_comm_ns;
    }
    const auto sum = [](const auto& rows, auto member) {
      return std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                             [member](std::int64_t all, const auto& row) { return all + row.*member; });
    };
    EXPECT_GT(overlapped, 0);
    EXPECT_EQ(sum(report.overlap->rows, &OverlapRow::comm_ns), comm);
    EXPECT_EQ(sum(report.overlap->rows, &OverlapRow::overlapped_ns), overlapped);
    EXPECT_EQ(sum(report.overlap->steps, &StepOverlap::comm_ns), comm);
    EXPECT_EQ(sum(report.overlap->steps, &StepOverlap::overlapped_ns), overlapped);
  }
}

TEST(Overlap, OnlyTheRanksAskedForCount) {
  ReportOptions options;
  options.ranks = {RankId{1}};
  const Report report = analyze(*run_of(gpu), options);
  ASSERT_EQ(report.overlap->ranks.size(), 1U);
  EXPECT_EQ(report.overlap->ranks[0].rank, RankId{1});
  EXPECT_EQ(report.overlap->rows[0].comm_ns, 100);
}

TEST(Overlap, KernelsThatAreSlowerBesideCommunicationAreNamed) {
  std::string text =
      "@run clock=same_host clock_error=10\n@group dp 0,1\n@rank 0 pid=1 host=n0\n@rank 1 pid=2 host=n0\n"
      "@lane 0 s7 kind=stream number=7 device=0\n@lane 0 s8 kind=stream number=8 device=0\n";
  for (int i = 0; i < 10; ++i) {
    const int at = i * 1000;
    text += "0 compute " + std::to_string(at) + " " + std::to_string(at + 100) + " gemm lane=s7\n";
    text += "0 compute " + std::to_string(at + 500) + " " + std::to_string(at + 650) + " gemm lane=s7\n";
    text += "0 compute " + std::to_string(at + 700) + " " + std::to_string(at + 750) + " relu lane=s7\n";
    text += "0 compute " + std::to_string(at + 800) + " " + std::to_string(at + 850) + " relu lane=s7\n";
    text += "0 comm " + std::to_string(at + 490) + " " + std::to_string(at + 760) +
            " allreduce group=dp seq=" + std::to_string(i) + " bytes=64 dtype=f32 lane=s8\n";
  }
  const auto section = overlap_in(text);
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->contended.size(), 1U) << "relu takes 50 everywhere";
  const ContendedKernel& kernel = section->contended.front();
  EXPECT_EQ(kernel.name, "gemm");
  EXPECT_EQ(kernel.beside, 10);
  EXPECT_EQ(kernel.alone, 10);
  EXPECT_DOUBLE_EQ(kernel.ratio(), 1.5);
  EXPECT_EQ(kernel.cost_ns(), 500);
  EXPECT_EQ(section->why_no_contention, "");
}

TEST(Overlap, LaunchesOfOtherSizesAreOtherKernels) {
  std::string text =
      "@run clock=same_host clock_error=10\n@group dp 0,1\n@rank 0 pid=1 host=n0\n@rank 1 pid=2 host=n0\n"
      "@lane 0 s7 kind=stream number=7 device=0\n@lane 0 s8 kind=stream number=8 device=0\n";
  for (int i = 0; i < 10; ++i) {
    const auto at = [i](int offset) { return std::to_string(i * 1000 + offset); };
    text += "0 compute " + at(0) + " " + at(100) + " gemm grid=@\"[1,1,1]\" lane=s7\n";
    text += "0 compute " + at(500) + " " + at(650) + " gemm grid=@\"[9,1,1]\" lane=s7\n";
    text += "0 comm " + at(490) + " " + at(760) + " allreduce group=dp seq=" + std::to_string(i) + " lane=s8\n";
  }
  const auto section = overlap_in(text);
  ASSERT_TRUE(section) << section.error().why;
  EXPECT_TRUE(section->contended.empty()) << "none of them ran both during communication and alone";
  EXPECT_EQ(section->why_no_contention,
            "no kernel has at least 10 launches during communication and 10 without communication");
}

TEST(Overlap, TooFewLaunchesAreNotCompared) {
  EXPECT_EQ(overlap_in(gpu)->why_no_contention,
            "no kernel has at least 10 launches during communication and 10 without communication");
}

TEST(Overlap, WithoutCommunicationThereIsNone) {
  const auto section =
      overlap_in("@rank 0 pid=1 host=n0\n@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 100 gemm lane=s7\n");
  ASSERT_FALSE(section);
  EXPECT_EQ(section.error().why, "no communication was recorded");
}

}  // namespace
}  // namespace rankscope::analyzer
