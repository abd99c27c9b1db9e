#include "kernels/parts.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "kernels/kernel_names.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;
using Lines = std::vector<std::string>;

constexpr std::string_view kernel_lanes =
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n"
    "@lane 0 s9 kind=stream number=9 device=0\n";

KernelsSection kernels_of(std::string_view text, const ReportOptions& options = {}) {
  const auto run = run_of(text);
  return analyze(*run, options).kernels.value();
}

KernelsSection kernels_on_lanes(std::string_view text) {
  return kernels_of(std::string{kernel_lanes} + std::string{text});
}

/// "name grid count sum exclusive"
Lines lines_of(const std::vector<KernelRow>& rows) {
  Lines lines;
  for (const KernelRow& row : rows)
    lines.push_back(format("{}{}{} {} {} {}", row.name, row.grid.empty() ? "" : " ", row.grid, row.times.count,
                           row.times.sum_ns, row.times.exclusive_ns));
  return lines;
}

// Rank 1 recorded no steps: its start-up and shut-down are no part of a mean per step.
constexpr std::string_view one_without_steps =
    "@rank 0 pid=1 host=n0\n@rank 1 pid=2 host=n0\n@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n@lane 1 s7 kind=stream number=7 device=0\n"
    "0 step 0 100 step index=0 lane=main\n0 step 100 200 step index=1 lane=main\n"
    "0 compute 0 60 elementwise_kernel_a lane=s7\n0 compute 100 160 elementwise_kernel_a lane=s7\n"
    "1 compute 0 100000 elementwise_kernel_a lane=s7\n1 compute 200000 300000 elementwise_kernel_a lane=s7\n"
    "0 memory 60 70 \"Memcpy HtoD (Pinned -> Device)\" lane=s7\n"
    "1 memory 100000 170000 \"Memcpy HtoD (Pinned -> Device)\" lane=s7\n"
    "0 op 0 50 aten::mm lane=main\n1 op 0 100000 aten::mm\n";

TEST(Kernels, StepsAndWholeRecordingsAreNotAddedUp) {
  const Report report = analyze(*run_of(one_without_steps), {});
  ASSERT_EQ(report.rank_rows->size(), 2U);
  EXPECT_EQ(report.kernels->ranks.size(), 1U);
  EXPECT_EQ(report.kernels->rank_steps, 2);
  EXPECT_EQ(lines_of(report.kernels->names).front(), "elementwise_kernel_a 2 120 120");
  EXPECT_EQ(report.copies->copies.front().sum_ns, 10);
  EXPECT_EQ(report.copies->ranks, 1);
  EXPECT_EQ(report.fusable->window_ns, 200);
  EXPECT_EQ(report.operators->operators.rows.front().times.total_ns, 50);
  EXPECT_EQ(report.operators->ranks, 1);
}

TEST(Kernels, OfRanksWithoutStepsAloneTheWholeRecordingCounts) {
  ReportOptions options;
  options.ranks = {RankId{1}};
  EXPECT_EQ(kernels_of(one_without_steps, options).names.front().times.sum_ns, 200'000);
}

TEST(Kernels, TimeIsChargedToTheEarlierKernel) {
  EXPECT_EQ(lines_of(kernels_on_lanes("0 compute 0 60 a lane=s7\n"
                                      "0 compute 40 100 b lane=s9\n")
                         .names),
            (Lines{"a 1 60 60", "b 1 60 40"}));
}

TEST(Kernels, ComputeGoesBeforeCommunicationBeforeCopies) {
  const auto section = kernels_on_lanes(
      "0 memory 0 100 Memcpy lane=s9\n"
      "0 comm 10 90 ncclDevKernel lane=s7\n"
      "0 compute 20 40 gemm lane=s7\n");
  EXPECT_EQ(lines_of(section.names), (Lines{"ncclDevKernel 1 80 60", "Memcpy 1 100 20", "gemm 1 20 20"}));
  EXPECT_EQ(section.exclusive_ns, 100);
  const auto& together = section.ranks.front().together;
  EXPECT_EQ(together, (std::array<std::int64_t, together_count>{0, 0, 0, 0, 20, 0, 60, 20}));
}

TEST(Kernels, AKernelInsideAnEarlierOneIsChargedNothing) {
  EXPECT_EQ(lines_of(kernels_on_lanes("0 compute 0 100 outer lane=s7\n"
                                      "0 compute 20 40 inner lane=s9\n"
                                      "0 compute 90 110 late lane=s9\n")
                         .names),
            (Lines{"outer 1 100 100", "late 1 20 10", "inner 1 20 0"}));
}

TEST(Kernels, AKeyIsNameGridAndBlock) {
  const auto section = kernels_on_lanes(
      "0 compute 0 10 a grid=@\"[1,1,1]\" block=@\"[128,1,1]\" lane=s7\n"
      "0 compute 10 40 a grid=@\"[2,1,1]\" block=@\"[128,1,1]\" lane=s7\n"
      "0 compute 40 60 a grid=@\"[1,1,1]\" block=@\"[128,1,1]\" lane=s7\n"
      "0 compute 60 65 b lane=s7\n");
  EXPECT_EQ(lines_of(section.names), (Lines{"a 3 60 60", "b 1 5 5"}));
  EXPECT_EQ(lines_of(section.keys), (Lines{"a [1,1,1] 2 30 30", "a [2,1,1] 1 30 30", "b 1 5 5"}));
}

TEST(Kernels, DurationsAreThoseOfTheWholeKernel) {
  const auto times = kernels_on_lanes(
                         "0 compute 0 10 a lane=s7\n0 compute 10 30 a lane=s7\n"
                         "0 compute 30 35 a lane=s7\n0 compute 40 80 a lane=s7\n")
                         .names.front()
                         .times;
  EXPECT_EQ(times.min_ns, 5);
  EXPECT_EQ(times.median_ns, 15);
  EXPECT_EQ(times.p90_ns, 34);
  EXPECT_EQ(times.max_ns, 40);
}

TEST(Kernels, AKernelWithoutLengthHasACountAndNoTime) {
  EXPECT_EQ(lines_of(kernels_on_lanes("0 compute 5 5 a lane=s7\n0 compute 6 8 b lane=s7\n").names),
            (Lines{"b 1 2 2", "a 1 0 0"}));
}

TEST(Kernels, OnlyTheCountedStepsAreSummed) {
  ReportOptions second;
  second.steps = {{1, 1}};
  second.include_warm_up = true;
  const auto section = kernels_of(std::string{kernel_lanes} +
                                      "0 step 0 100 step index=0 lane=main\n"
                                      "0 step 100 200 step index=1 lane=main\n"
                                      "0 compute 10 40 a lane=s7\n"
                                      "0 compute 90 120 b lane=s7\n"
                                      "0 compute 150 180 a lane=s7\n",
                                  second);
  EXPECT_EQ(lines_of(section.names), (Lines{"a 1 30 30", "b 0 0 20"}));
  EXPECT_EQ(section.ranks.front().window_ns, 100);
}

TEST(Kernels, RowsOfARankPointToTheNames) {
  const auto section = kernels_of(
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 compute 0 10 a lane=s7\n0 compute 10 12 b lane=s7\n"
      "@rank 1\n@lane 1 s7 kind=stream number=7 device=0\n"
      "1 compute 0 50 b lane=s7\n");
  EXPECT_EQ(lines_of(section.names), (Lines{"b 2 52 52", "a 1 10 10"}));
  ASSERT_EQ(section.ranks.size(), 2U);
  ASSERT_EQ(section.ranks[0].names.size(), 2U);
  EXPECT_EQ(section.names[section.ranks[0].names[0].name].name, "a");
  EXPECT_EQ(section.names[section.ranks[1].names[0].name].name, "b");
  EXPECT_EQ(rest_of(std::span{section.names}, 1).exclusive_ns, 10);
}

TEST(Kernels, CpuRanksHaveNone) {
  const auto run = run_of("0 op 0 10 aten::mm\n");
  const Unavailable none = analyze(*run, {}).kernels.error();
  EXPECT_EQ(none.why, no_accelerator);
  EXPECT_EQ(none.missed, Missed::no);
}

TEST(KernelNames, AreReadableWithoutTheirTemplates) {
  for (const auto& [name, expected] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"},
           {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclKernel_AllReduce_RING_LL_Sum_float"},
           {"Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"},
           {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_tr_1C11_args<float>)",
            "bn_fw_tr_1C11_singleread"},
           {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
            "at::detail::Array<char*, "
            "1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)",
            "FillFunctor · vectorized_elementwise_kernel"},
           {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
            "at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int)",
            "MulFunctor · vectorized_elementwise_kernel"},
           {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
            "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float> "
            ">(int)",
            "BinaryOpListAlphaFunctor · multi_tensor_apply_kernel"},
           {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(cutlass_80_tensorop::Params)",
            "cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4"},
           {"std::enable_if<(2>(0))&&(true), void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)",
            "fused_add_rms_norm_kernel"},
           {"(", "("},
       })
    EXPECT_EQ(short_kernel_name(name), expected);
}

TEST(KernelNames, TellOfTensorCores) {
  for (const char* name :
       {"volta_h884gemm_128x64_ldg8_nn", "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn",
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16",
        "cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4", "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
        "void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)"})
    EXPECT_EQ(tensor_cores_of(name), TensorCores::yes) << name;
  for (const char* name :
       {"ampere_sgemm_128x64_nn", "volta_scudnn_128x64_relu_interior_nn_v1",
        "cutlass_80_simt_sgemm_128x32_8x5_nn_align1", "void at::native::vectorized_elementwise_kernel<4, F>(int)"})
    EXPECT_EQ(tensor_cores_of(name), TensorCores::no) << name;
  EXPECT_EQ(tensor_cores_of("my_kernel"), TensorCores::unknown);
}

}  // namespace
}  // namespace rankscope::analyzer
