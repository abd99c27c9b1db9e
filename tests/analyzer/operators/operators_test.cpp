#include "operators/parts.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;
using Lines = std::vector<std::string>;

constexpr std::string_view operator_lanes =
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 backward kind=thread number=2\n"
    "@lane 0 s7 kind=stream number=7 device=0\n";

OperatorsSection operators_of(std::string_view text) {
  const auto run = run_of(text);
  return analyze(*run, {}).operators.value();
}

OperatorsSection operators_on_lanes(std::string_view text) {
  return operators_of(std::string{operator_lanes} + std::string{text});
}

/// "name calls self/total device/device total"
Lines lines_of(const OperatorTable& table) {
  Lines lines;
  for (const OperatorRow& row : table.rows)
    lines.push_back(format("{} {} {}/{} {}/{}", row.name, row.times.calls, row.times.self_ns, row.times.total_ns,
                           row.times.device_ns, row.times.device_total_ns));
  return lines;
}

TEST(Operators, SelfTimeIsWithoutWhatIsNested) {
  EXPECT_EQ(lines_of(operators_of("0 op 0 100 aten::linear\n0 op 10 40 aten::t\n0 op 50 90 aten::addmm\n").operators),
            (Lines{"aten::addmm 1 40/40 0/0", "aten::linear 1 30/100 0/0", "aten::t 1 30/30 0/0"}));
}

TEST(Operators, WorkIsChargedToTheInnermostOperatorAroundItsLaunch) {
  const auto section = operators_on_lanes(
      "0 op 0 100 aten::linear lane=main\n"
      "0 op 10 40 aten::addmm lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 runtime 60 70 cudaLaunchKernel lane=main\n"
      "0 runtime 110 120 cudaLaunchKernel lane=main\n"
      "0 compute 200 260 gemm lane=s7\n"
      "0 compute 260 270 bias lane=s7\n"
      "0 compute 270 275 stray lane=s7\n"
      "0 compute 275 277 unlaunched lane=s7\n"
      "@link launch 2 5\n@link launch 3 6\n@link launch 4 7\n");
  EXPECT_EQ(lines_of(section.operators), (Lines{"aten::addmm 1 30/30 60/60", "aten::linear 1 70/100 10/70"}));
  EXPECT_EQ(section.operators.outside_device_ns, 7);
  EXPECT_EQ(section.operators.outside_unlaunched_ns, 2);
  EXPECT_EQ(section.device_ns, 77);
}

TEST(Operators, AGraphLaunchOwnsAllItsKernels) {
  EXPECT_EQ(lines_of(operators_on_lanes("0 op 0 50 replay lane=main\n"
                                        "0 runtime 10 20 cudaGraphLaunch lane=main\n"
                                        "0 compute 20 40 a lane=s7\n"
                                        "0 compute 40 70 b lane=s7\n"
                                        "@link launch 1 2\n@link launch 1 3\n")
                         .operators),
            (Lines{"replay 1 50/50 50/50"}));
}

TEST(Operators, TotalsCountACallInsideACallOfTheSameNameOnce) {
  EXPECT_EQ(lines_of(operators_of("0 op 0 100 aten::to\n0 op 10 60 aten::to\n").operators),
            (Lines{"aten::to 2 100/100 0/0"}));
}

TEST(Operators, ShapesAddUpToTheOperator) {
  const auto section = operators_of(
      "0 op 0 10 aten::mm \"Input Dims\"=@\"[[2,2]]\"\n"
      "0 op 10 40 aten::mm \"Input Dims\"=@\"[[4,4]]\"\n"
      "0 op 40 50 aten::mm \"Input Dims\"=@\"[[2,2]]\"\n"
      "0 op 50 60 aten::mm\n");
  ASSERT_EQ(section.operators.rows.size(), 1U);
  Lines shapes;
  for (const ShapeRow& row : section.operators.rows.front().shapes)
    shapes.push_back(format("{} {} {}", row.shapes, row.calls, row.self_ns));
  EXPECT_EQ(shapes, (Lines{"[[4,4]] 1 30", "[[2,2]] 2 20", " 1 10"}));
}

TEST(Operators, InputsThatTheTrainerWritesAreShapes) {
  const auto section = operators_of("0 op 0 10 aten::mm input_dims=@\"[[2,2]]\"\n");
  ASSERT_EQ(section.operators.rows.size(), 1U);
  ASSERT_EQ(section.operators.rows.front().shapes.size(), 1U);
  EXPECT_EQ(section.operators.rows.front().shapes.front().shapes, "[[2,2]]");
}

TEST(Operators, TheBackwardPassIsToldAtItsForwardOperator) {
  const auto section = operators_on_lanes(
      "0 op 0 10 aten::mm lane=main\n"
      "0 op 20 60 MmBackward0 lane=backward\n"
      "0 runtime 30 40 cudaLaunchKernel lane=backward\n"
      "0 compute 40 90 gemm lane=s7\n"
      "@link launch 2 3\n@link forward_backward 0 1\n");
  const auto row = std::ranges::find(section.operators.rows, "aten::mm", &OperatorRow::name);
  ASSERT_NE(row, section.operators.rows.end());
  EXPECT_EQ(row->backward, (BackwardTimes{1, 40, 50}));
}

TEST(Operators, AnnotationsAndModulesHaveTheirOwnTable) {
  const auto section = operators_on_lanes(
      "0 step 0 100 step index=0 lane=main\n"
      "0 forward 0 60 forward lane=main\n"
      "0 python 5 50 \"nn.Module: Linear_0\" lane=main\n"
      "0 python 6 49 \"linear.py(3): forward\" lane=main\n"
      "0 op 10 40 aten::mm lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 compute 30 60 gemm lane=s7\n"
      "@link launch 5 6\n");
  EXPECT_EQ(lines_of(section.operators), (Lines{"aten::mm 1 30/30 30/30"}));
  EXPECT_EQ(lines_of(section.annotations), (Lines{"nn.Module: Linear_0 1 45/45 30/30", "forward 1 15/60 0/30"}));
}

TEST(Operators, OnlyTheTimeInCountedStepsIsSummed) {
  const auto run = run_of(
      "0 step 0 100 step index=0\n0 step 100 200 step index=1\n"
      "0 op 80 120 early\n0 op 150 160 late\n");
  ReportOptions second;
  second.steps = {{1, 1}};
  second.include_warm_up = true;
  EXPECT_EQ(lines_of(analyze(*run, second).operators.value().operators),
            (Lines{"early 0 20/20 0/0", "late 1 10/10 0/0"}));
}

TEST(Operators, SpansThatOnlyOverlapAreChargedOnce) {
  EXPECT_EQ(lines_of(operators_of("0 op 0 100 a\n0 op 50 150 b\n").operators),
            (Lines{"b 1 100/100 0/0", "a 1 50/100 0/0"}));
}

TEST(Operators, NothingRecordedIsSaid) {
  const auto run = run_of("0 counter 5 10 rss_bytes\n");
  EXPECT_FALSE(analyze(*run, {}).operators);
}

}  // namespace
}  // namespace rankscope::analyzer
