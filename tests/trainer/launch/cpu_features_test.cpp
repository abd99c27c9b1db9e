#include "rankscope/trainer/launch/cpu_features.h"

#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

TEST(CpuFeatures, Bf16IsAWordAmongThem) {
  EXPECT_TRUE(computes_bf16("processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 clzero\n"));
  EXPECT_TRUE(computes_bf16("flags : fpu amx_bf16"));
  EXPECT_TRUE(computes_bf16("Features\t: fp asimd bf16 dgh\n"));
}

TEST(CpuFeatures, NothingElseIsTakenForIt) {
  EXPECT_FALSE(computes_bf16("flags\t\t: fpu avx512f avx512bw avx_vnni\n"));
  EXPECT_FALSE(computes_bf16("Features\t: fp asimd svebf16 ebf16\n"));
  EXPECT_FALSE(computes_bf16(""));
}

TEST(CpuFeatures, AreThereOnLinux) { EXPECT_NE(cpu_features(), ""); }

}  // namespace
}  // namespace rankscope::trainer
