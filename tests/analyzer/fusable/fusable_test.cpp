#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "kernels/kernel_names.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view fusable_lanes =
    "@rank 0 pid=1 host=n0\n@lane 0 s7 kind=stream number=7 device=0\n@lane 0 s9 kind=stream number=9 device=0\n";
constexpr std::string_view add = "\"vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >\"";
constexpr std::string_view mul = "\"vectorized_elementwise_kernel<4, MulFunctor<float> >\"";

std::string kernel(std::int64_t begin, std::int64_t end, std::string_view name, std::string_view lane = "s7") {
  return "0 compute " + std::to_string(begin) + " " + std::to_string(end) + " " + std::string{name} +
         " lane=" + std::string{lane} + "\n";
}

FusableSection found_in(const std::string& text, const ReportOptions& options = {}) {
  return analyze(*run_of(std::string{fusable_lanes} + text), options).fusable.value();
}

TEST(Fusable, PointwiseKernelsInARowAreASequence) {
  const auto section = found_in(kernel(0, 10, add) + kernel(15, 25, mul) + kernel(30, 90, "gemm") +
                                kernel(100, 110, add) + kernel(112, 122, mul) + kernel(130, 140, "gemm"));
  ASSERT_EQ(section.sequences.size(), 1U);
  const FusableSequence& sequence = section.sequences.front();
  EXPECT_EQ(sequence.kernels, "CUDAFunctor_add → MulFunctor");
  EXPECT_EQ(sequence.length, 2);
  EXPECT_EQ(sequence.count, 2);
  EXPECT_EQ(sequence.kernel_ns, 40);
  EXPECT_EQ(sequence.gap_ns, 5 + 2);
  EXPECT_EQ(section.kernel_ns, 40);
}

TEST(Fusable, OneKernelAnotherStreamOrALongGapMakeNone) {
  EXPECT_TRUE(found_in(kernel(0, 10, add) + kernel(20, 30, "gemm")).sequences.empty());
  EXPECT_TRUE(found_in(kernel(0, 10, add) + kernel(20, 30, mul, "s9")).sequences.empty());
  EXPECT_TRUE(found_in(kernel(0, 10, add) + kernel(100'011, 100'020, mul)).sequences.empty());
  EXPECT_FALSE(found_in(kernel(0, 10, add) + kernel(100'010, 100'020, mul)).sequences.empty());
}

TEST(Fusable, AGapInWhichAnotherStreamWorksIsNoGain) {
  const std::string row = kernel(0, 10, add) + kernel(50, 60, mul);
  EXPECT_EQ(found_in(row).gap_ns, 40);
  EXPECT_EQ(found_in(row + kernel(0, 100, "gemm", "s9")).gap_ns, 0);
  EXPECT_EQ(found_in(row + kernel(5, 20, "gemm", "s9") + kernel(45, 70, "gemm", "s9")).gap_ns, 25);
}

TEST(Fusable, OnlyTheOwnDeviceKeepsAGapBusy) {
  const std::string other = "@lane 0 s1 kind=stream number=1 device=1\n";
  EXPECT_EQ(found_in(other + kernel(0, 10, add) + kernel(50, 60, mul) + kernel(0, 100, "gemm", "s1")).gap_ns, 40);
}

TEST(Fusable, WhatRepeatsIsWrittenOnce) {
  std::string pairs;
  std::string same;
  for (int i = 0; i < 4; ++i) {
    pairs += kernel(i * 20, i * 20 + 5, add) + kernel(i * 20 + 10, i * 20 + 15, mul);
    same += kernel(i * 20, i * 20 + 5, add);
  }
  EXPECT_EQ(found_in(pairs).sequences.front().kernels, "(CUDAFunctor_add → MulFunctor) ×4");
  EXPECT_EQ(found_in(same).sequences.front().kernels, "CUDAFunctor_add ×4");
}

TEST(Fusable, NamesTellWhatIsPointwise) {
  for (const char* name :
       {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)",
        "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<double> >(int)",
        "triton_poi_fused_add_0", "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(float*)"})
    EXPECT_TRUE(is_pointwise(name)) << name;
  for (const char* name : {"sm90_xmma_gemm_f32f32", "void at::native::reduce_kernel<512, 1>(int)",
                           "triton_red_fused_sum_1", "flash_fwd_kernel", ""})
    EXPECT_FALSE(is_pointwise(name)) << name;
}

TEST(Fusable, CpuRanksHaveNone) { EXPECT_FALSE(analyze(*run_of("0 op 0 10 a\n"), {}).fusable); }

}  // namespace
}  // namespace rankscope::analyzer
