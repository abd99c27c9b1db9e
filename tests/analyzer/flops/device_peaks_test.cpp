#include "flops/device_peaks.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

double bf16_of(std::string_view device) {
  const DevicePeaks* const peaks = peaks_of(device);
  return peaks == nullptr ? -1 : peaks->of(Precision::bf16).value_or(0);
}

TEST(DevicePeaks, AreFoundByProductNames) {
  EXPECT_EQ(bf16_of("NVIDIA A100-SXM4-80GB"), 312);
  EXPECT_EQ(bf16_of("NVIDIA A100-PG509-200"), 312);
  EXPECT_EQ(bf16_of("NVIDIA H100 80GB HBM3"), 989.4);
  EXPECT_EQ(bf16_of("NVIDIA H100 PCIe"), 756);
  EXPECT_EQ(bf16_of("NVIDIA H200"), 989.4);
  EXPECT_EQ(bf16_of("NVIDIA B200"), 2250);
  EXPECT_EQ(bf16_of("NVIDIA L40S"), 362.05);
  EXPECT_EQ(bf16_of("NVIDIA L4"), 121);
  EXPECT_EQ(bf16_of("NVIDIA A10"), 125);
  EXPECT_EQ(bf16_of("NVIDIA A10G"), 70);
  EXPECT_EQ(bf16_of("NVIDIA GeForce RTX 4090"), 165.2);
  EXPECT_EQ(bf16_of("AMD Instinct MI300X"), 1307.4);
  EXPECT_EQ(bf16_of("AMD Instinct MI250X"), 191.5);
}

TEST(DevicePeaks, AreNotThoseOfARelative) {
  for (const char* const device :
       {"NVIDIA A1000", "NVIDIA H100", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D", "AMD Instinct MI250X / MI250", "AMD Radeon Graphics", "cpu", ""})
    EXPECT_EQ(peaks_of(device), nullptr) << device;
}

TEST(DevicePeaks, AreUnknownForNumbersThatADeviceCannotMultiply) {
  EXPECT_EQ(peaks_of("Tesla V100-SXM2-32GB")->of(Precision::fp16), 125);
  EXPECT_EQ(peaks_of("Tesla V100-SXM2-32GB")->of(Precision::bf16), std::nullopt);
  EXPECT_EQ(peaks_of("Tesla V100-SXM2-32GB")->of(Precision::unknown), std::nullopt);
}

TEST(DevicePeaks, EachHasASource) {
  for (const char* const device : {"Tesla P100-SXM2-16GB", "Tesla T4", "NVIDIA GB200", "AMD Instinct MI210"})
    EXPECT_FALSE(peaks_of(device)->source.empty()) << device;
}

}  // namespace
}  // namespace rankscope::analyzer
