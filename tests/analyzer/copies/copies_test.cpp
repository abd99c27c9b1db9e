#include "copies/parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;
using Lines = std::vector<std::string>;

CopiesSection copies_of(std::string_view text) {
  const auto run = run_of(
      "@lane 0 main kind=thread number=1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n" +
      std::string{text});
  return analyze(*run, {}).copies.value();
}

Lines lines_of(const std::vector<HostCallRow>& rows) {
  Lines lines;
  for (const HostCallRow& row : rows)
    lines.push_back(format("{} in {}/{}: {} {}", row.call, row.op, row.range, row.count, row.ns));
  return lines;
}

TEST(Copies, HaveABandwidthByKindAndMemory) {
  const auto copies = copies_of(
                          "0 memory 0 100 \"Memcpy HtoD (Pageable -> Device)\" bytes=400 lane=s7\n"
                          "0 memory 100 200 \"Memcpy HtoD (Pageable -> Device)\" bytes=200 lane=s7\n"
                          "0 memory 200 200 \"Memcpy HtoD (Pageable -> Device)\" bytes=8 lane=s7\n"
                          "0 memory 200 250 \"Memset (Device)\" lane=s7\n")
                          .copies;
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].kind, "HtoD");
  EXPECT_EQ(copies[0].memory, "Pageable -> Device");
  EXPECT_EQ(copies[0].count, 3);
  EXPECT_EQ(copies[0].sum_ns, 200);
  EXPECT_EQ(copies[0].bytes, 608);
  EXPECT_EQ(copies[0].unmeasured, 1);
  EXPECT_EQ(copies[0].gbps, 3.0);
  EXPECT_EQ(copies[1].kind, "memset");
  EXPECT_FALSE(copies[1].gbps);
}

TEST(Copies, BytesThatDoNotFitAreCountedAndNotAdded) {
  constexpr std::int64_t most = std::int64_t{1} << 48;
  std::string text;
  for (int i = 0; i < 40'000; ++i)
    text += format("0 memory {} {} \"Memcpy HtoD (Pinned -> Device)\" bytes={} lane=s7\n", i * 10, i * 10 + 5, most);
  text += format("0 memory 400000 400005 \"Memcpy HtoD (Pinned -> Device)\" bytes={} lane=s7\n", most + 1);
  const auto copies = copies_of(text).copies;
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].count, 40'001);
  EXPECT_EQ(copies[0].too_large, 40'001 - 32'767);
  EXPECT_EQ(copies[0].unmeasured, copies[0].too_large);
  EXPECT_EQ(copies[0].bytes, most * 32'767);
  EXPECT_NEAR(copies[0].gbps.value(), static_cast<double>(most) / 5, 1e6);
}

TEST(Copies, ThatHoldTheHostUpAreChargedToTheirOperator) {
  EXPECT_EQ(lines_of(copies_of("0 op 0 100 aten::copy_ lane=main\n"
                               "0 runtime 10 60 cudaMemcpyAsync lane=main\n"
                               "0 runtime 110 115 cudaMemcpyAsync lane=main\n"
                               "0 runtime 120 180 cudaMemcpy lane=main\n"
                               "0 memory 20 50 \"Memcpy HtoD (Pageable -> Device)\" lane=s7\n"
                               "0 memory 120 130 \"Memcpy HtoD (Pinned -> Device)\" lane=s7\n"
                               "0 memory 140 150 \"Memcpy DtoH (Device -> Pinned)\" lane=s7\n"
                               "@link launch 1 4\n@link launch 2 5\n@link launch 3 6\n")
                         .blocking_copies),
            (Lines{"cudaMemcpy in /: 1 60", "cudaMemcpyAsync in aten::copy_/: 1 50"}));
}

TEST(Copies, SynchronizationsNameOperatorAndAnnotation) {
  EXPECT_EQ(
      lines_of(copies_of("0 user 0 200 logging lane=main\n"
                         "0 op 5 100 aten::item lane=main\n"
                         "0 op 10 90 aten::_local_scalar_dense lane=main\n"
                         "0 runtime 20 80 cudaStreamSynchronize lane=main\n"
                         "0 runtime 21 79 cuStreamSynchronize lane=main\n"
                         "0 runtime 300 310 cudaDeviceSynchronize lane=main\n"
                         "0 compute 0 80 gemm lane=s7\n")
                   .synchronizations),
      (Lines{"cudaStreamSynchronize in aten::_local_scalar_dense/logging: 1 60", "cudaDeviceSynchronize in /: 1 10"}));
}

TEST(Copies, AllocationsOfTheFirstStepAreExpected) {
  EXPECT_EQ(lines_of(copies_of("0 step 0 100 step index=0 lane=main\n"
                               "0 step 100 200 step index=1 lane=main\n"
                               "0 runtime 20 40 cudaMalloc lane=main\n"
                               "0 op 100 150 aten::empty lane=main\n"
                               "0 runtime 120 140 cudaMalloc lane=main\n"
                               "0 runtime 160 170 cudaFree_v3020 lane=main\n"
                               "0 compute 0 200 gemm lane=s7\n")
                         .allocations),
            (Lines{"cudaMalloc in aten::empty/: 1 20", "cudaFree_v3020 in /: 1 10"}));
}

TEST(Copies, WithoutStepsAllocationsBeforeTheFirstWorkAreStartUp) {
  EXPECT_EQ(lines_of(copies_of("0 runtime 0 40 cudaMalloc lane=main\n"
                               "0 runtime 60 70 cudaMalloc lane=main\n"
                               "0 compute 50 200 gemm lane=s7\n")
                         .allocations),
            (Lines{"cudaMalloc in /: 1 10"}));
}

TEST(Copies, CpuRanksHaveNone) {
  const auto run = run_of("0 op 0 10 aten::mm\n");
  const Unavailable none = analyze(*run, {}).copies.error();
  EXPECT_EQ(none.why, no_accelerator);
  EXPECT_EQ(none.missed, Missed::no);
}

/// Steps of 1 ms: a copy that compute hides, and one that nothing hides.
std::string hidden_and_exposed() {
  std::string text = "@lane 0 s20 kind=stream number=20 device=0\n";
  for (int step = 0; step < 6; ++step) {
    const int begin = step * 1'000'000;
    text += format("0 step {} {} step index={} lane=main\n", begin, begin + 1'000'000, step);
    text += format("0 compute {} {} gemm lane=s7\n", begin, begin + 600'000);
    text += format("0 memory {} {} \"Memcpy HtoD (Pinned -> Device)\" bytes=600000 lane=s20\n", begin, begin + 600'000);
    text += format("0 memory {} {} \"Memcpy DtoD (Device -> Device)\" bytes=900000 lane=s7\n", begin + 700'000,
                   begin + 950'000);
  }
  return text;
}

TEST(Copies, AreExposedWhileNeitherComputeNorCommunicationRuns) {
  const auto copies = copies_of(hidden_and_exposed()).copies;
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].kind, "HtoD");
  EXPECT_EQ(copies[0].exposed_ns, 0);
  EXPECT_EQ(copies[1].exposed_ns, 6 * 250'000);
}

TEST(Copies, ThatAreExposedAreThoseOfTheFinding) {
  const auto run =
      run_of("@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n" + hidden_and_exposed());
  const Report report = analyze(*run, {});
  const auto finding = std::ranges::find(*report.findings, "exposed_copies", &Finding::id);
  ASSERT_NE(finding, report.findings->end());
  EXPECT_EQ(finding->evidence,
            "copies take 250 µs per step and rank while neither compute nor communication runs; most of it is DtoD "
            "(Device -> Device): 250 µs at 3.6 GB/s");
  EXPECT_NE(finding->advice.find("memory on the device"), std::string::npos) << finding->advice;
}

}  // namespace
}  // namespace rankscope::analyzer
