// The parameters that sampling hands to CUPTI, against NVIDIA's own declarations; and the names of metrics, against the
// real libcupti, which knows every chip without one. Built where the headers of CUDA 13.0 are installed.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "cupti/library.h"
#include "pm/cupti_pm.h"
#include "pm/metrics.h"

namespace rankscope::collectors {
namespace {

namespace pm = cupti::pm;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

#define EXPECT_SAME(ours, our_last, theirs, their_last)              \
  EXPECT_EQ(offsetof(ours, our_last), offsetof(theirs, their_last)); \
  EXPECT_EQ(sizeof(ours{}.our_last), sizeof(theirs{}.their_last));   \
  EXPECT_EQ(sizeof(ours), sizeof(theirs));                           \
  EXPECT_EQ(ours{}.struct_size, static_cast<std::size_t>(theirs##_STRUCT_SIZE)) << #theirs

TEST(PmHeaders, ParametersAreLaidOutAsCuptiHasThem) {
  EXPECT_SAME(pm::Profiler, reserved, CUpti_Profiler_Initialize_Params, pPriv);
  EXPECT_SAME(pm::Profiler, reserved, CUpti_Profiler_DeInitialize_Params, pPriv);
  EXPECT_SAME(pm::ChipName, name, CUpti_Device_GetChipName_Params, pChipName);
  EXPECT_SAME(pm::Availability, image, CUpti_PmSampling_GetCounterAvailability_Params, pCounterAvailabilityImage);
  EXPECT_SAME(pm::Availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params, counterAvailabilityImageSize);
  EXPECT_SAME(pm::HostInitialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
  EXPECT_SAME(pm::HostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
  EXPECT_SAME(pm::HostInitialize, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
  EXPECT_SAME(pm::HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
  EXPECT_SAME(pm::HostDeinitialize, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
  EXPECT_SAME(pm::AddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
  EXPECT_SAME(pm::AddMetrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
  EXPECT_SAME(pm::ConfigSize, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
  EXPECT_SAME(pm::ConfigImage, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
  EXPECT_SAME(pm::ConfigImage, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
  EXPECT_SAME(pm::Passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
  EXPECT_SAME(pm::Passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
  EXPECT_SAME(pm::Evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
  EXPECT_SAME(pm::Evaluate, sample, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
  EXPECT_SAME(pm::Evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
}

TEST(PmHeaders, SamplingIsLaidOutAsCuptiHasIt) {
  EXPECT_SAME(pm::Enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
  EXPECT_SAME(pm::Enable, sampler, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
  EXPECT_SAME(pm::SetConfig, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
  EXPECT_SAME(pm::SetConfig, config, CUpti_PmSampling_SetConfig_Params, pConfig);
  EXPECT_SAME(pm::SetConfig, hardware_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
  EXPECT_SAME(pm::SetConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
  EXPECT_SAME(pm::SetConfig, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
  EXPECT_SAME(pm::SetConfig, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
  EXPECT_SAME(pm::Sampler, sampler, CUpti_PmSampling_Start_Params, pPmSamplingObject);
  EXPECT_SAME(pm::Sampler, sampler, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
  EXPECT_SAME(pm::Sampler, sampler, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
  EXPECT_SAME(pm::DataSize, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
  EXPECT_SAME(pm::DataSize, most_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
  EXPECT_SAME(pm::DataSize, bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
  EXPECT_SAME(pm::DataImage, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
  EXPECT_SAME(pm::DataImage, image, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
  EXPECT_SAME(pm::Decode, stopped, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
  EXPECT_SAME(pm::Decode, overflowed, CUpti_PmSampling_DecodeData_Params, overflow);
  EXPECT_SAME(pm::DataInfo, completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
  EXPECT_SAME(pm::SampleInfo, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
  EXPECT_SAME(pm::SampleInfo, begin, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
  EXPECT_SAME(pm::SampleInfo, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
}

TEST(PmHeaders, NumbersAreThoseOfCupti) {
  EXPECT_EQ(pm::HostInitialize::pm_sampling, CUPTI_PROFILER_TYPE_PM_SAMPLING);
  EXPECT_EQ(static_cast<int>(pm::Trigger::time), CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
  EXPECT_EQ(static_cast<int>(pm::Append::keep_latest), CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
  EXPECT_EQ(static_cast<int>(pm::Stopped::image_full), CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
  EXPECT_EQ(cupti::result::insufficient_privileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(cupti::result::out_of_memory, CUPTI_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cupti::result::not_initialized, CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cupti::result::hardware_busy, CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_EQ(cupti::result::not_supported, CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cupti::result::virtual_device, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
  EXPECT_EQ(cupti::result::virtual_device_privileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(cupti::result::first_kind_of_device, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  EXPECT_EQ(cupti::result::last_kind_of_device, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// It opens its host library with RTLD_DEEPBIND, upon which a sanitizer ends the program.
std::string cupti_library() { return {}; }
constexpr const char* no_cupti = "the real CUPTI does not run under a sanitizer";
#else
constexpr const char* no_cupti = "no libcupti.so.13; name one with RANKSCOPE_TEST_CUPTI";
/// Named by RANKSCOPE_TEST_CUPTI, or the toolkit's; empty: there is none.
std::string cupti_library() {
  if (const char* const named = std::getenv("RANKSCOPE_TEST_CUPTI")) return named;
  for (const char* const path : {"/usr/local/cuda/lib64/libcupti.so.13", "/usr/local/cuda/lib/libcupti.so.13",
                                 "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"})
    if (std::filesystem::exists(path)) return path;
  return {};
}
#endif

class EveryChip : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(PmMetrics, EveryChip, ::testing::Values("GA100", "GA102", "AD102", "GH100", "GB100", "GB202"));

TEST_P(EveryChip, OnePassHoldsWhatTheRealCuptiKnowsOfIt) {
  if (cupti_library().empty()) GTEST_SKIP() << no_cupti;
  const cupti::PmLibrary library = cupti::find_pm_functions(cupti_library());
  ASSERT_EQ(library.problem, "");
  const PmSelection selection = select_pm_metrics(library.call, GetParam(), {});
  ASSERT_EQ(selection.status, 0) << library.call.text_of(selection.status);
  EXPECT_EQ(selection.host->passes(), 1U);
  EXPECT_EQ(selection.metrics.size() + selection.left_out.size(), pm_quantities().size());
  for (const char* always : {"sm_active_percent", "tensor_active_percent", "dram_read_percent", "dram_write_percent"})
    EXPECT_THAT(selection.names, Contains(always));
  const std::string_view chip = GetParam();
  if (chip == "GH100" || chip == "GA100") {
    EXPECT_THAT(selection.left_out, IsEmpty()) << "NVLink and PCIe, too";
  }
}

TEST(PmMetrics, TheRealCuptiKnowsChipsWhereTheLinkerDoesNotFindItsHostLibraryByItself) {
  if (cupti_library().empty()) GTEST_SKIP() << no_cupti;
#if !defined(__x86_64__)
  GTEST_SKIP() << "the dynamic linker has another name here";
#endif
  // As with PyTorch's packages, whose folder is in no cache of the linker and in no variable.
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const std::string command = "env -u LD_LIBRARY_PATH /lib64/ld-linux-x86-64.so.2 --inhibit-cache '" + self +
                              "' --gtest_filter=PmMetrics/EveryChip.*/3 >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(PmMetrics, AChipThatTheRealCuptiDoesNotKnowIsRefused) {
  if (cupti_library().empty()) GTEST_SKIP() << no_cupti;
  const cupti::PmLibrary library = cupti::find_pm_functions(cupti_library());
  ASSERT_EQ(library.problem, "");
  EXPECT_NE(select_pm_metrics(library.call, "no chip", {}).status, 0);
}

}  // namespace
}  // namespace rankscope::collectors
