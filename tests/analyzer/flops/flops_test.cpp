#include "flops/parts.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view with_lane =
    "@device 0 0 name=\"NVIDIA A100-SXM4-80GB\"\n"
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 backward kind=thread number=2\n"
    "@lane 0 s7 kind=stream number=7 device=0\n"
    "@lane 0 s9 kind=stream number=9 device=0\n";

/// 2 · 1000 · 1000 · 1000 FLOP on BF16: 6410 ns (6410.26) at the 312 TFLOP/s of an A100.
constexpr std::string_view product =
    "\"Input Dims\"=@\"[[1000,1000],[1000,1000]]\" "
    "\"Input type\"=@\"[\\\"c10::BFloat16\\\",\\\"c10::BFloat16\\\"]\"";
constexpr std::int64_t flops_of_product = 2'000'000'000;

/// `{}` is the product.
std::string with_products(std::string_view lines) {
  std::string text{with_lane};
  while (!lines.empty()) {
    const std::size_t at = lines.find("{}");
    text += lines.substr(0, at);
    if (at == std::string_view::npos) break;
    text += product;
    lines.remove_prefix(at + 2);
  }
  return text;
}

FlopsSection flops_of(std::string_view lines, const ReportOptions& options = {}) {
  const auto run = run_of(with_products(lines));
  return analyze(*run, options).flops.value();
}

std::int64_t lost(const RankFlops& rank, NotCountable why) { return rank.lost_calls[static_cast<std::size_t>(why)]; }
std::int64_t part(const RankFlops& rank, ComputeTime what) {
  return rank.compute_parts[static_cast<std::size_t>(what)];
}
std::int64_t ns_of(const Ladder& ladder, LadderStep step) {
  std::int64_t sum = -1;
  for (const LadderPart& row : ladder.parts)
    if (row.step == step) sum = row.ns;
  return sum;
}

constexpr std::string_view product_lines =
    "0 op 0 100 aten::linear {} lane=main\n"
    "0 op 10 90 aten::mm {} lane=main\n"
    "0 runtime 20 30 cudaLaunchKernel lane=main\n"
    "0 compute 100 10100 gemm lane=s7\n"
    "@link launch 2 3\n";

TEST(Flops, OfAChainOnlyTheInnermostOperatorIsCounted) {
  const FlopsSection section = flops_of(product_lines);
  EXPECT_EQ(section.sums.calls, 1);
  EXPECT_EQ(section.sums.model, flops_of_product);
  EXPECT_EQ(section.sums.kernels_ns, 10'000);
  ASSERT_EQ(section.operators.size(), 1U);
  EXPECT_EQ(section.operators.front().name, "aten::mm");
  EXPECT_EQ(section.operators.front().at_peak_ns, 6410);
  EXPECT_EQ(section.ranks.front().at_peak_ns, 6410);
  EXPECT_DOUBLE_EQ(section.coverage.value.value(), 1);
}

TEST(Flops, TheOuterOperatorStandsInForAnInnerOneWithoutInputs) {
  const FlopsSection section = flops_of(
      "0 op 0 100 aten::linear {} lane=main\n"
      "0 op 10 90 aten::addmm lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 compute 100 10100 gemm lane=s7\n"
      "@link launch 2 3\n");
  EXPECT_EQ(section.operators.front().name, "aten::linear");
  EXPECT_EQ(section.sums.model, flops_of_product);
  EXPECT_EQ(lost(section.ranks.front(), NotCountable::no_shapes), 0);
}

TEST(Flops, CallsWithoutInputsAreLostVisibly) {
  const FlopsSection section = flops_of(
      "0 op 0 100 aten::linear lane=main\n"
      "0 op 10 90 aten::addmm lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 compute 100 10100 gemm lane=s7\n"
      "@link launch 2 3\n");
  EXPECT_EQ(lost(section.ranks.front(), NotCountable::no_shapes), 1);
  EXPECT_EQ(part(section.ranks.front(), ComputeTime::not_countable), 10'000);
  EXPECT_EQ(section.why_no_flops, "the inputs of operators were not recorded");
  EXPECT_EQ(section.mfu.why, "no FLOPs were counted");
  ASSERT_TRUE(section.ladder);
  EXPECT_EQ(ns_of(*section.ladder, LadderStep::compute), 10'000);
  EXPECT_EQ(section.ladder->why_at_compute, section.why_no_flops);
}

TEST(Flops, CallsThatStartNothingAreNotCounted) {
  const FlopsSection section =
      flops_of(std::string{"0 op 0 10 aten::mm {} lane=backward\n"} + "0 compute 100 10100 gemm lane=s7\n");
  EXPECT_EQ(section.sums.calls, 0);
  EXPECT_EQ(section.ranks.front().calls_without_work, 1);
}

TEST(Flops, ComputeTimeThatIsNotCountedHasAReason) {
  const FlopsSection section = flops_of(
      "0 op 0 10 aten::mm {} lane=main\n"
      "0 runtime 1 2 cudaLaunchKernel lane=main\n"
      "0 op 10 20 aten::add lane=main\n"
      "0 runtime 11 12 cudaLaunchKernel lane=main\n"
      "0 op 20 30 my::layer lane=main\n"
      "0 runtime 21 22 cudaLaunchKernel lane=main\n"
      "0 op 30 40 compiled lane=main\n"
      "0 runtime 31 32 cuLaunchKernel lane=main\n"
      "0 op 40 50 replay lane=main\n"
      "0 runtime 41 42 cudaGraphLaunch lane=main\n"
      "0 runtime 51 52 cudaLaunchKernel lane=main\n"
      "0 compute 100 10100 gemm lane=s7\n"
      "0 compute 10100 10110 vectorized_elementwise_kernel lane=s7\n"
      "0 compute 10110 10130 my_s16816gemm lane=s7\n"
      "0 compute 10130 10160 triton_poi_fused lane=s7\n"
      "0 compute 10160 10200 inside_graph lane=s7\n"
      "0 compute 10200 10250 outside lane=s7\n"
      "0 compute 10250 10310 unlaunched lane=s7\n"
      "@link launch 1 11\n@link launch 3 12\n@link launch 5 13\n@link launch 7 14\n@link launch 9 15\n"
      "@link launch 10 16\n");
  const RankFlops& rank = section.ranks.front();
  EXPECT_EQ(part(rank, ComputeTime::counted), 10'000);
  EXPECT_EQ(part(rank, ComputeTime::other), 10);
  EXPECT_EQ(part(rank, ComputeTime::matrix_kernel), 20);
  EXPECT_EQ(part(rank, ComputeTime::generated), 30);
  EXPECT_EQ(part(rank, ComputeTime::graph), 40);
  EXPECT_EQ(part(rank, ComputeTime::no_operator), 110);
  EXPECT_EQ(rank.compute_ns, 10'210);
}

constexpr std::string_view two_steps =
    "0 step 0 20000 step index=0 lane=main\n"
    "0 op 0 100 aten::mm {} lane=main\n"
    "0 runtime 20 30 cudaLaunchKernel lane=main\n"
    "0 step 20000 40000 step index=1 lane=main\n"
    "0 op 20000 20100 aten::mm {} lane=main\n"
    "0 runtime 20020 20030 cudaLaunchKernel lane=main\n"
    "0 compute 100 10100 gemm lane=s7\n"
    "0 compute 20100 30100 gemm lane=s7\n"
    "0 memory 30100 31100 Memcpy lane=s7\n"
    "@link launch 2 6\n@link launch 5 7\n";

TEST(Flops, MfuIsTheModelAtThePeakOverTheMedianStep) {
  const FlopsSection section = flops_of(two_steps);
  EXPECT_EQ(section.step_ns, 20'000);
  EXPECT_EQ(section.ranks.front().steps, 2);
  // Two products: 4e9 FLOP at 312 TFLOP/s are 12821 ns, of two steps of 20000 ns.
  EXPECT_DOUBLE_EQ(section.mfu.value.value(), 12'821 / 40'000.0);
  EXPECT_EQ(section.hfu.value, std::nullopt);
  EXPECT_EQ(section.hfu.why, "no recomputation was seen");
}

TEST(Flops, TheLadderAddsUpToAllTheTime) {
  const Ladder ladder = flops_of(two_steps).ladder.value();
  EXPECT_EQ(ladder.whole_ns, 40'000);
  std::int64_t sum = 0;
  for (const LadderPart& row : ladder.parts) sum += row.ns;
  EXPECT_EQ(sum, 40'000);
  EXPECT_EQ(ns_of(ladder, LadderStep::model), 12'821);
  EXPECT_EQ(ns_of(ladder, LadderStep::kernels_below_peak), 20'000 - 12'821);
  EXPECT_EQ(ns_of(ladder, LadderStep::kernels_not_counted), 0);
  EXPECT_EQ(ns_of(ladder, LadderStep::memory), 1000);
}

TEST(Flops, CountedKernelsBesideOthersAreOneLossWithThem) {
  // The counted kernel runs wholly behind another one, so that no time is charged to it.
  const Ladder ladder = flops_of(
                            "0 op 0 100 aten::mm {} lane=main\n"
                            "0 runtime 20 30 cudaLaunchKernel lane=main\n"
                            "0 compute 100 20100 other lane=s9\n"
                            "0 compute 200 10200 gemm lane=s7\n"
                            "@link launch 1 3\n")
                            .ladder.value();
  EXPECT_EQ(ns_of(ladder, LadderStep::kernels), 20'000 - 6410);
  EXPECT_EQ(ns_of(ladder, LadderStep::kernels_below_peak), -1) << "not told apart";
}

TEST(Flops, FasterThanThePeakIsAWrongCountOrPeak) {
  ReportOptions slow;
  slow.peak_tflops = 100;  // 20000 ns for what ran in 10000
  const FlopsSection section = flops_of(product_lines, slow);
  ASSERT_FALSE(section.ladder);
  EXPECT_EQ(section.ladder.error().why,
            "the FLOP count or the peak is wrong: at the peak, the counted FLOPs of rank 0 would take 20.0 µs, but its "
            "compute time is only 10.0 µs");
}

TEST(Flops, APeakThatIsGivenWinsOverTheTable) {
  ReportOptions given;
  given.peak_tflops = 250;
  const FlopsSection section = flops_of(product_lines, given);
  EXPECT_EQ(section.ranks.front().at_peak_ns, 8000);
  EXPECT_EQ(section.ranks.front().peak_source, "--peak-tflops");
}

TEST(Flops, WithoutAKnownPeakTheLadderEndsAtTheComputeTime) {
  std::string text = with_products(product_lines);
  text.replace(text.find("NVIDIA A100-SXM4-80GB"), 21, "Accelerator 9");
  const auto run = run_of(text);
  const FlopsSection section = analyze(*run, {}).flops.value();
  EXPECT_EQ(section.sums.model, flops_of_product);
  ASSERT_TRUE(section.ladder);
  EXPECT_EQ(section.ladder->why_at_compute, "the peak of Accelerator 9 is not known; give it with --peak-tflops");
  EXPECT_EQ(ns_of(*section.ladder, LadderStep::compute), 10'000);
}

TEST(Flops, TheUnitsOfFp32AreToldByTheKernel) {
  const auto precision = [](std::string_view kernel) {
    std::string text = with_products(product_lines);
    for (std::size_t at = text.find("c10::BFloat16"); at != std::string::npos; at = text.find("c10::BFloat16"))
      text.replace(at, 13, "float");
    text.replace(text.find("10100 gemm"), 10, format("100100 {}", kernel));
    const auto run = run_of(text);
    const FlopsSection section = analyze(*run, {}).flops.value();
    return std::pair{section.operators.front().precision, section.ranks.front().fp32_unclear};
  };
  EXPECT_EQ(precision("cutlass_80_tensorop_s1688gemm"), std::pair(Precision::fp32_matrix, std::int64_t{0}));
  EXPECT_EQ(precision("ampere_sgemm_128x64"), std::pair(Precision::fp32, std::int64_t{0}));
  EXPECT_EQ(precision("gemm"), std::pair(Precision::fp32, flops_of_product));
}

TEST(Flops, WhatIsComputedAgainIsExecutedAndNoPartOfTheModel) {
  const FlopsSection section = flops_of(
      "0 step 0 40000 step index=0 lane=main\n"
      "0 op 0 100 aten::linear {} lane=main\n"
      "0 op 10 90 aten::mm {} lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 op 200 900 \"autograd::engine::evaluate_function: MmBackward0\" lane=backward\n"
      "0 op 210 400 aten::linear {} lane=backward\n"
      "0 op 220 390 aten::mm {} lane=backward\n"
      "0 runtime 230 240 cudaLaunchKernel lane=backward\n"
      "0 op 500 600 aten::mm {} lane=backward\n"
      "0 runtime 510 520 cudaLaunchKernel lane=backward\n"
      "0 compute 1000 11000 gemm lane=s7\n"
      "0 compute 11000 21000 gemm lane=s7\n"
      "0 compute 21000 31000 gemm lane=s7\n"
      "@link launch 3 10\n@link launch 7 11\n@link launch 9 12\n");
  const RankFlops& rank = section.ranks.front();
  EXPECT_EQ(rank.sums.model, 2 * flops_of_product) << "the forward and the gradient";
  EXPECT_EQ(rank.sums.executed, 3 * flops_of_product);
  EXPECT_EQ(rank.recomputed, flops_of_product);
  EXPECT_NEAR(section.hfu.value.value() / section.mfu.value.value(), 1.5, 1e-4);
}

TEST(Flops, WhatIsComputedAgainIsOnTopOfTheModelThatTheRunTells) {
  const std::string again =
      "0 step 0 40000 step index=0 lane=main\n"
      "0 op 10 90 aten::mm {} lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 op 200 900 \"autograd::engine::evaluate_function: MmBackward0\" lane=backward\n"
      "0 op 210 400 aten::linear {} lane=backward\n"
      "0 op 220 390 aten::mm {} lane=backward\n"
      "0 runtime 230 240 cudaLaunchKernel lane=backward\n"
      "0 compute 1000 11000 gemm lane=s7\n"
      "0 compute 11000 21000 gemm lane=s7\n"
      "@link launch 2 7\n@link launch 6 8\n";
  const auto run = run_of("@run meta.model_flops_per_step=6e9\n" + with_products(again));
  const FlopsSection section = analyze(*run, {}).flops.value();
  ASSERT_TRUE(section.mfu.value);
  ASSERT_TRUE(section.hfu.value) << section.hfu.why;
  EXPECT_NEAR(*section.hfu.value / *section.mfu.value, 2.0, 1e-9) << "all of it once more, as of the counted calls";
}

TEST(Flops, TheRunMayTellItsModel) {
  const auto run = run_of("@run meta.model_flops_per_step=3e9\n" + with_products(two_steps));
  const FlopsSection section = analyze(*run, {}).flops.value();
  EXPECT_EQ(section.user_flops_per_step, 3'000'000'000);
  EXPECT_EQ(why_no_user_flops(section), "");
  EXPECT_EQ(why_no_user_flops(flops_of(two_steps)), "not given");
  EXPECT_EQ(section.ranks.front().model_flops, 6'000'000'000);
  EXPECT_TRUE(section.ranks.front().stated_by_user);
  EXPECT_EQ(section.ranks.front().at_peak_ns, 19'231) << "at the peak of BF16, which most counted FLOP have";
  for (const char* const nonsense : {"many", "-5", "0", "1e30", "nan", "3e9x"}) {
    const auto other = run_of(format("@run meta.model_flops_per_step={}\n", nonsense) + with_products(two_steps));
    const FlopsSection counted = analyze(*other, {}).flops.value();
    EXPECT_EQ(counted.user_flops_per_step, std::nullopt) << nonsense;
    EXPECT_EQ(why_no_user_flops(counted),
              format("model_flops_per_step of the run must be a number of FLOPs (is '{}')", nonsense));
    EXPECT_EQ(counted.ranks.front().model_flops, 2 * flops_of_product);
  }
}

TEST(Flops, SumsThatDoNotFitAreLostVisibly) {
  constexpr std::string_view huge = "\"Input Dims\"=@\"[[2000000,1000000],[1000000,2000000]]\"";  // 8e18
  const auto run = run_of(std::string{with_lane} + format("0 op 0 10 aten::mm {0} lane=main\n"
                                                          "0 runtime 1 2 cudaLaunchKernel lane=main\n"
                                                          "0 op 10 20 aten::mm {0} lane=main\n"
                                                          "0 runtime 11 12 cudaLaunchKernel lane=main\n"
                                                          "0 compute 100 110 gemm lane=s7\n"
                                                          "0 compute 110 120 gemm lane=s7\n"
                                                          "@link launch 1 4\n@link launch 3 5\n",
                                                          huge));
  const FlopsSection section = analyze(*run, {}).flops.value();
  EXPECT_EQ(section.sums.calls, 1);
  EXPECT_EQ(lost(section.ranks.front(), NotCountable::too_large), 1);
}

TEST(Flops, OfACpuRankAreCountedByTheHost) {
  const auto run = run_of(
      "0 op 0 100 aten::linear input_dims=@\"[[4,8],[2,8],[2]]\"\n"
      "0 op 10 90 aten::addmm input_dims=@\"[[2],[4,8],[8,2],[],[]]\" "
      "input_types=@\"[\\\"float\\\",\\\"float\\\"]\"\n");
  const FlopsSection section = analyze(*run, {}).flops.value();
  EXPECT_EQ(section.sums.model, 128);
  EXPECT_EQ(section.sums.kernels_ns, 80);
  EXPECT_EQ(section.coverage.value, std::nullopt);
  EXPECT_EQ(section.ladder->why_at_compute, "the peak of a CPU is not known; give it with --peak-tflops");
}

}  // namespace
}  // namespace rankscope::analyzer
