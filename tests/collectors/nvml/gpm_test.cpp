// GPM of NVML, with a stand-in for its library.
#include "nvml/gpm.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "recorded.h"

namespace rankscope::collectors::nvml {
namespace {

using collectors::testing::program;
using collectors::testing::Variable;
using ::testing::HasSubstr;

constexpr std::int64_t ms = 1'000'000;

/// A GPU of the stand-in, which numbers its handles from 1.
struct Gpu {
  explicit Gpu(std::uintptr_t index) : device(call, static_cast<char*>(nullptr) + index + 1) {}
  /// How many values are handed on at that time.
  int read(std::int64_t now_ms) {
    int values = 0;
    device.read(now_ms * ms, [&values](const GpmQuantity&, double) { ++values; });
    return values;
  }
  void* library = dlopen(program("libnvml_standin.so").c_str(), RTLD_NOW);
  GpmFunctions call = find_gpm_functions(library);
  GpmDevice device;
};

TEST(NvmlGpm, TellsMeansBetweenReadingsThatAreFarEnoughApart) {
  Gpu gpu{0};
  ASSERT_EQ(gpu.device.problem(), "");
  EXPECT_EQ(gpu.read(1'000), 0) << "the first reading";
  EXPECT_EQ(gpu.read(1'099), 0);
  EXPECT_EQ(gpu.read(1'100), 8);
  EXPECT_EQ(gpu.read(1'150), 0);
  EXPECT_EQ(gpu.read(1'300), 8);
}

TEST(NvmlGpm, APauseBelongsToNoValue) {
  Gpu gpu{0};
  gpu.read(1'000);
  gpu.device.forget();
  EXPECT_EQ(gpu.read(9'000), 0);
  EXPECT_EQ(gpu.read(9'200), 8);
}

TEST(NvmlGpm, ReadingsAreGivenBack) {
  int (*allocated)() = nullptr;
  {
    Gpu gpu{0};
    allocated = reinterpret_cast<int (*)()>(dlsym(gpu.library, "standin_gpm_allocated"));
    EXPECT_EQ(allocated(), 2);
  }
  EXPECT_EQ(allocated(), 0);
}

std::string problem_of(const char* gpm, std::uintptr_t index = 0) {
  const Variable variable{"STANDIN_NVML_GPM", gpm};
  Gpu gpu{index};
  EXPECT_EQ(gpu.read(1'000), 0);
  EXPECT_EQ(gpu.read(2'000), 0);
  return gpu.device.problem();
}

TEST(NvmlGpm, WhatCannotBeReadHasAReason) {
  EXPECT_THAT(problem_of("", 1), HasSubstr("needs Hopper or newer"));
  EXPECT_THAT(problem_of("denied"), HasSubstr("is not allowed to read GPM metrics (NVML: Insufficient Permissions)"));
  EXPECT_THAT(problem_of("mig"), HasSubstr("MIG"));
  EXPECT_THAT(problem_of("garbled"), HasSubstr("NVML: "));
  const GpmFunctions none;
  EXPECT_EQ((GpmDevice{none, nullptr}.problem()), "this driver does not support GPM");
}

TEST(NvmlGpm, AReadingThatFailsLaterIsAskedForAgain) {
  Gpu gpu{0};
  gpu.read(1'000);
  EXPECT_EQ(gpu.read(2'000), 8);
  {
    const Variable denied{"STANDIN_NVML_GPM", "denied"};
    EXPECT_EQ(gpu.read(3'000), 0);
  }
  EXPECT_EQ(gpu.device.problem(), "");
  EXPECT_EQ(gpu.read(4'000), 0) << "a first one again";
  EXPECT_EQ(gpu.read(5'000), 8);
}

TEST(NvmlGpm, AGpuWithoutLinksLacksTheirValuesOnly) {
  const Variable linkless{"STANDIN_NVML_GPM", "linkless"};
  Gpu gpu{0};
  gpu.read(1'000);
  EXPECT_EQ(gpu.read(2'000), 6);
  std::vector<std::string> missing;
  const auto ask = [&] {
    gpu.device.take_missing(
        [&](const GpmQuantity& quantity, std::string_view) { missing.emplace_back(quantity.name); });
  };
  ask();
  gpu.read(3'000);
  ask();
  EXPECT_THAT(missing,
              ::testing::ElementsAre("gpm_nvlink_sent_bytes_per_second", "gpm_nvlink_received_bytes_per_second"))
      << "once each";
}

}  // namespace
}  // namespace rankscope::collectors::nvml
