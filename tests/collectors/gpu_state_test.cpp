// What `rankscope doctor` says about the sources that need a GPU.
#include "rankscope/collectors/gpu_state.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;

GpuState state_of(const std::string& what) {
  for (const GpuState& state : gpu_states())
    if (state.what == what) return state;
  return {.good = false, .what = "no line " + what, .found = {}, .advice = {}};
}

TEST(GpuState, CuptiIsNamedWithItsPathAndVersion) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable version{"STANDIN_CUPTI_VERSION", "26"};
  const GpuState state = state_of("CUPTI");
  EXPECT_TRUE(state.good) << state.found;
  EXPECT_THAT(state.found, ::testing::AllOf(HasSubstr("libcupti_standin.so"), HasSubstr("CUDA 12.8 (26)")));
}

TEST(GpuState, AVersionWithFaultsIsNotGoodAndSaysWhy) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable version{"STANDIN_CUPTI_VERSION", "130000"};
  const GpuState state = state_of("CUPTI");
  EXPECT_FALSE(state.good);
  EXPECT_THAT(state.found, HasSubstr("13.0 Update 1"));
}

TEST(GpuState, GpusAreListedByUuid) {
  const Variable library{"RANKSCOPE_NVML", program("libnvml_standin.so")};
  EXPECT_THAT(state_of("GPUs (NVML)").found,
              HasSubstr("driver 580.65.06; 0 NVIDIA Stand-in GPU-0; 1 NVIDIA Stand-in GPU-1"));
}

TEST(GpuState, AHookOfAnotherToolIsNamed) {
  const Variable hook{"NCCL_PROFILER_PLUGIN", "/opt/inspector.so"};
  const GpuState state = state_of("NCCL hook");
  EXPECT_FALSE(state.good);
  EXPECT_EQ(state.found, "NCCL_PROFILER_PLUGIN names /opt/inspector.so");
}

TEST(GpuState, EveryLineSaysWhatWasFoundAndWhatToDo) {
  for (const GpuState& state : gpu_states()) {
    EXPECT_FALSE(state.found.empty()) << state.what;
    EXPECT_FALSE(state.advice.empty()) << state.what;
  }
}

}  // namespace
}  // namespace rankscope::collectors
