#include "devices/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "steps/sample_windows.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_of;

/// "GPU <number> <quantity>" of a rank, one value per time.
std::string counter(int rank, int number, std::string_view quantity, std::initializer_list<std::pair<int, double>> at) {
  std::string text;
  for (const auto& [time, value] : at)
    text += format("{} counter {} {} \"GPU {} {}\"\n", rank, time, value, number, quantity);
  return text;
}

/// A rank whose kernels run on its device 0.
std::string rank_on(int rank, std::string_view device, std::string_view metadata = "") {
  return format(
      "@rank {0} pid={0} host=n0 local_rank={0} {2}\n@device {0} 0 {1}\n"
      "@lane {0} s7 kind=stream number=7 device=0\n",
      rank, device, metadata);
}
std::string work_of(int rank) { return format("{} compute 0 1000 gemm lane=s7\n", rank); }

constexpr std::string_view two_gpus = R"(meta.nvml_gpu_0="GPU-a NVIDIA H100" meta.nvml_gpu_1="GPU-b NVIDIA H100")";

std::vector<RankRow> rows_of(const std::string& text) {
  const Report report = analyze(*run_of(text), {});
  EXPECT_TRUE(report.rank_rows);
  return report.rank_rows.value_or(std::vector<RankRow>{});
}

/// Why NVML's counters are not known of the only device of rank 0.
std::string why_no_nvml(const std::string& text) {
  const std::vector<RankRow> rows = rows_of(text);
  EXPECT_EQ(rows.at(0).devices.size(), 1U);
  const DeviceRow& device = rows.at(0).devices.at(0);
  EXPECT_FALSE(rows.at(0).nvml_busy.value);
  return device.nvml ? "it has them" : device.nvml.error().why;
}

TEST(Devices, NvmlsNumbersAreNotThoseOfARankThatSeesOneGpuOnly) {
  const auto rows = rows_of(rank_on(0, "uuid=GPU-b name=H100", two_gpus) + rank_on(1, "uuid=GPU-a name=H100") +
                            work_of(0) + work_of(1) + counter(0, 0, "nvml_busy_percent", {{100, 20}, {200, 40}}) +
                            counter(0, 1, "nvml_busy_percent", {{100, 90}, {200, 80}}) +
                            counter(0, 1, "sm_clock_mhz", {{100, 1000}, {200, 1500}, {300, 1700}}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].nvml_busy.value.value_or(0), 0.85) << "its device 0 is NVML's GPU 1";
  EXPECT_DOUBLE_EQ(rows[1].nvml_busy.value.value_or(0), 0.3) << "sampled by the process of rank 0";
  const DeviceRow& device = rows[0].devices.at(0);
  EXPECT_EQ(device.uuid, "GPU-b");
  ASSERT_TRUE(device.nvml && device.nvml->sm_clock_mhz);
  EXPECT_EQ(device.nvml->sm_clock_mhz->median, 1500);
  EXPECT_EQ(device.nvml->sm_clock_mhz->most, 1700);
  EXPECT_EQ(rows[1].devices.at(0).nvml->sm_clock_mhz.error().why, "not sampled");
}

TEST(Devices, ARankHasARowForEachGpuThatItUsed) {
  const auto rows =
      rows_of(rank_on(0, "uuid=GPU-b", two_gpus) +
              "@device 0 1 uuid=GPU-a\n@device 0 2 uuid=GPU-c\n"
              "@lane 0 s8 kind=stream number=8 device=1\n@lane 0 s9 kind=stream number=9 device=2\n" +
              work_of(0) + "0 compute 0 500 gemm lane=s8\n" + counter(0, 0, "nvml_busy_percent", {{100, 50}}) +
              counter(0, 1, "nvml_busy_percent", {{100, 100}}));
  ASSERT_EQ(rows.at(0).devices.size(), 2U) << "it did nothing on device 2";
  EXPECT_DOUBLE_EQ(rows[0].devices[0].nvml->busy.value.value_or(0), 1.0);
  EXPECT_DOUBLE_EQ(rows[0].devices[1].nvml->busy.value.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(rows[0].nvml_busy.value.value_or(0), 0.75);
}

TEST(Devices, WhatCannotBeMatchedSaysWhy) {
  const std::string values = work_of(0) + counter(0, 0, "nvml_busy_percent", {{100, 50}});
  EXPECT_EQ(why_no_nvml(rank_on(0, "uuid=GPU-x", two_gpus) + values),
            "no process of the recording sampled the rank's GPU");
  EXPECT_EQ(why_no_nvml(rank_on(0, "name=H100", two_gpus) + values), "the UUID of the rank's GPU was not recorded");
  EXPECT_THAT(why_no_nvml(rank_on(0, "uuid=GPU-a", two_gpus) + "@device 0 0 uuid=GPU-b\n" + values),
              HasSubstr("it is not certain which GPU the rank used"));
  EXPECT_THAT(why_no_nvml(rank_on(0, "uuid=GPU-a", format("{} meta.nvml_mig_0=on", two_gpus)) + values),
              HasSubstr("MIG divides the rank's GPU"));
  EXPECT_THAT(why_no_nvml(rank_on(0, "uuid=MIG-a", two_gpus) + values), HasSubstr("MIG divides the rank's GPU"));
  EXPECT_EQ(why_no_nvml(rank_on(0, "uuid=GPU-a") + work_of(0)), "not sampled");
  EXPECT_EQ(why_no_nvml(rank_on(0, "uuid=GPU-a", R"(meta.nvml_problem="Driver Not Loaded")") + work_of(0)),
            "not sampled: Driver Not Loaded");
}

TEST(Devices, WhatWentWrongOnItsHostIsSaidThoughOtherHostsSampledTheirs) {
  const std::string here =
      "@rank 0 pid=1 host=n0 meta.nvml_problem=\"Driver Not Loaded\" meta.pm_problem=refused\n"
      "@device 0 0 uuid=GPU-x\n@lane 0 s7 kind=stream number=7 device=0\n";
  const std::string there = format(
      "@rank 1 pid=2 host=n1 meta.pm_gpu_0=GPU-a {}\n@device 1 0 uuid=GPU-a\n"
      "@lane 1 s7 kind=stream number=7 device=0\n",
      two_gpus);
  const auto rows = rows_of(here + there + work_of(0) + work_of(1) + counter(1, 0, "nvml_busy_percent", {{100, 50}}) +
                            counter(1, 0, "sm_active_percent", {{100, 40}}));
  EXPECT_EQ(rows.at(0).devices.at(0).nvml.error().why, "not sampled: Driver Not Loaded");
  EXPECT_EQ(rows.at(0).devices.at(0).pm.error().why, "not sampled: refused");
  EXPECT_DOUBLE_EQ(rows.at(1).nvml_busy.value.value_or(0), 0.5);
}

TEST(Devices, AGpuThatCudaVisibleDevicesLeavesOutIsNotTakenForTheUsedOne) {
  const auto rows =
      rows_of(rank_on(0, "uuid=GPU-a meta.cudaVisible=0", two_gpus) + "@device 0 0 uuid=GPU-b\n" + work_of(0) +
              counter(0, 0, "nvml_busy_percent", {{100, 50}}) + counter(0, 1, "nvml_busy_percent", {{100, 70}}));
  EXPECT_DOUBLE_EQ(rows.at(0).nvml_busy.value.value_or(0), 0.7);
}

TEST(Devices, TheUuidThatAProgramStatesIsEnough) {
  const auto rows = rows_of(format("@rank 0 pid=1 meta.device_uuid=GPU-b {}\n0 compute 0 1000 gemm\n", two_gpus) +
                            counter(0, 1, "nvml_busy_percent", {{100, 60}}));
  EXPECT_DOUBLE_EQ(rows.at(0).nvml_busy.value.value_or(0), 0.6);
}

TEST(Devices, CountersOfTheHardwareAreFoundWhereAnotherRankSampledTheGpu) {
  const auto rows = rows_of(rank_on(0, "uuid=GPU-a", R"(meta.pm_gpu_0="GPU-a GH100 at 200 Hz: sm__cycles_active")") +
                            rank_on(1, "uuid=GPU-a") + work_of(0) + work_of(1) +
                            counter(0, 0, "sm_active_percent", {{100, 40}, {200, 60}}));
  EXPECT_DOUBLE_EQ(rows.at(0).sm_active.value.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(rows.at(1).sm_active.value.value_or(0), 0.5);
  EXPECT_EQ(rows.at(1).devices.at(0).pm->tensor_active.why, "not sampled");
}

TEST(Devices, WhatAGpuDoesNotSupportIsSaid) {
  const auto rows = rows_of(
      rank_on(0, "uuid=GPU-a",
              format(R"({} "meta.nvml_without GPU 0 power_watts"="not supported by this GPU or driver")", two_gpus)) +
      work_of(0) + counter(0, 0, "nvml_busy_percent", {{100, 50}}));
  EXPECT_EQ(rows.at(0).devices.at(0).nvml->power_watts.error().why, "not supported by this GPU or driver");
}

/// From time 2000 to 7000; a step lasts until the next one begins.
std::string three_steps() {
  std::string text = rank_on(0, "uuid=GPU-a", two_gpus) + "@lane 0 main kind=thread number=1\n";
  for (int step = 1; step <= 3; ++step)
    text += format("0 step {0} {1} step index={2} lane=main\n0 compute {0} {1} gemm lane=s7\n", step * 2000,
                   step * 2000 + 1000, step);
  return text;
}

TEST(Devices, SamplesOutsideOfTheCountedStepsAreLeftOut) {
  const auto rows =
      rows_of(three_steps() + counter(0, 0, "sm_clock_mhz", {{500, 9000}, {2500, 1000}, {4500, 1200}, {7500, 9000}}) +
              counter(0, 0, "throttle_reasons", {{500, 4}, {2500, 0}, {4500, 0}, {7500, 4}}) +
              counter(0, 0, "temperature_celsius", {{500, 80}, {7500, 80}}));
  const auto& nvml = rows.at(0).devices.at(0).nvml;
  ASSERT_TRUE(nvml && nvml->sm_clock_mhz && nvml->throttling && !nvml->temperature_celsius);
  EXPECT_EQ(nvml->sm_clock_mhz->median, 1100);
  EXPECT_EQ(nvml->sm_clock_mhz->most, 1200);
  EXPECT_EQ(nvml->throttling->share, 0);
  EXPECT_EQ(nvml->temperature_celsius.error().why, "no sample was taken in the counted time");
}

TEST(Devices, TotalsAreDifferencesOverTheCountedSteps) {
  const auto rows = rows_of(three_steps() + counter(0, 0, "energy_joules", {{0, 100}, {6000, 700}}) +
                            counter(0, 0, "nvlink_sent_bytes", {{2000, 0}, {3000, 500}, {4000, 500}}) +
                            counter(0, 0, "ecc_uncorrected_errors", {{500, 1}, {2500, 3}, {4500, 4}, {7500, 9}}));
  const auto& nvml = rows.at(0).devices.at(0).nvml;
  ASSERT_TRUE(nvml);
  EXPECT_DOUBLE_EQ(nvml->energy_joules.value.value_or(0), 400)
      << "0.1 J per ns from 2000 to 6000, then it is not known";
  EXPECT_NEAR(nvml->energy_covers.value.value_or(0), 0.8, 1e-9);
  EXPECT_DOUBLE_EQ(nvml->nvlink_sent_bytes_per_second.value.value_or(0), 0.25e9);
  EXPECT_DOUBLE_EQ(nvml->ecc_uncorrected_errors.value.value_or(0), 3);
}

TEST(Devices, OneSampleOfErrorsDoesNotSayThatThereWereNone) {
  const auto errors_of = [](std::initializer_list<std::pair<int, double>> samples) {
    return rows_of(three_steps() + counter(0, 0, "ecc_uncorrected_errors", samples))
        .at(0)
        .devices.at(0)
        .nvml->ecc_uncorrected_errors;
  };
  EXPECT_FALSE(errors_of({{2500, 7}}).value);
  EXPECT_THAT(errors_of({{2500, 7}}).why, HasSubstr("only one sample was taken"));
  EXPECT_EQ(errors_of({{2500, 7}, {3500, 7}}).value, 0);
  EXPECT_EQ(errors_of({{2500, 7}, {3500, 8}}).value, 1);
}

TEST(SampleWindows, ATotalThatIsSetBackDoesNotShrink) {
  const auto at = [](std::int64_t ns) { return RunTime{nanoseconds{ns}}; };
  const std::vector<CounterSample> samples{{at(0), 10}, {at(100), 30}, {at(200), 0}, {at(300), 5}};
  const std::vector<TimeRange> window{{at(50), at(300)}};
  const Growth growth = growth_inside(samples, window);
  EXPECT_DOUBLE_EQ(growth.amount, 15);
  EXPECT_EQ(growth.covered_ns, 150);
  EXPECT_EQ(events_inside(samples, window), 20) << "that of time 300 is behind the window";
}

TEST(ClockReasons, BitsOfNvmlHaveNames) {
  const auto names = [](std::uint64_t bits) {
    std::string text;
    for (const ClockReason reason : clock_reasons(bits)) text += format("{};", name_of(reason));
    return text;
  };
  EXPECT_EQ(names(0), "");
  EXPECT_EQ(names(0x4), "sw_power_cap;");
  EXPECT_EQ(names(0x48), "hw_slowdown;hw_thermal_slowdown;");
  EXPECT_EQ(names(0x1FF),
            "gpu_idle;applications_clocks_setting;sw_power_cap;hw_slowdown;sync_boost;sw_thermal_slowdown;"
            "hw_thermal_slowdown;hw_power_brake_slowdown;display_clock_setting;");
  EXPECT_EQ(names(0x200), "unknown;");
}

TEST(ClockReasons, IdleGpusAndClocksThatSomebodySetAreNotThrottled) {
  const std::vector<double> samples{0x1, 0x2, 0x3, 0x4, 0x48, 0x84, 0, 0x200};
  const Throttling throttling = throttling_of(samples);
  EXPECT_DOUBLE_EQ(throttling.share, 3.0 / 8);
  EXPECT_DOUBLE_EQ(throttling.share_of(ClockReason::sw_power_cap), 2.0 / 8);
  EXPECT_DOUBLE_EQ(throttling.share_of(ClockReason::gpu_idle), 2.0 / 8);
  EXPECT_DOUBLE_EQ(throttling.share_of(ClockReason::sync_boost), 0);
  EXPECT_EQ(throttling.main_reason()->reason, ClockReason::sw_power_cap);
  const std::vector<double> hot{0x48, 0x48};
  EXPECT_EQ(throttling_of(hot).main_reason()->reason, ClockReason::hw_thermal_slowdown) << "tells more than 0x8";
  const std::vector<double> idle{0x1};
  EXPECT_FALSE(throttling_of(idle).main_reason());
}

}  // namespace
}  // namespace rankscope::analyzer
