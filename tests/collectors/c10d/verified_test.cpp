#include "inject/c10d/verified.h"

#include <gtest/gtest.h>

namespace rankscope::inject::c10d {
namespace {

TEST(C10dVerified, ReleasesForCpusAndCudaAre) {
  for (const char* version : {"2.4.1", "2.6.0+cu124", "2.8.0+cpu", "2.10.0", "2.11.0+cu130", "2.11.3"})
    EXPECT_TRUE(layout_of(version, "x86-64")) << version;
}

TEST(C10dVerified, OtherReleasesAreNot) {
  for (const char* version : {"2.9.0", "2.1.0", "2.110.0", "3.11.0", "12.4.1"})
    EXPECT_FALSE(layout_of(version, "x86-64")) << version;
}

TEST(C10dVerified, PreReleasesAndBuildsOfOthersAreNot) {
  for (const char* version : {"2.8.0a0+5228986c39.nv25.06", "2.11.0.dev20260101+cu130", "2.11.0rc1", "2.11.0+rocm7.0",
                              "2.11.0+git1a2b3c4", "2.11.0+cu", "2.11.0+cu130.vendor", "2.11.0+", "2.8.0a0", "2.8.0.1"})
    EXPECT_FALSE(layout_of(version, "x86-64")) << version;
}

TEST(C10dVerified, StringsThatAreNotVersionsAreNot) {
  for (const char* version : {"", "2", "2.11", ".", "..", "2..0", "2.11.", "+cpu", "2.11.0 "})
    EXPECT_FALSE(layout_of(version, "x86-64")) << version;
}

TEST(C10dVerified, OtherArchitecturesAreNot) {
  EXPECT_FALSE(layout_of("2.11.0", "aarch64"));
  EXPECT_FALSE(layout_of("2.11.0", ""));
}

}  // namespace
}  // namespace rankscope::inject::c10d
