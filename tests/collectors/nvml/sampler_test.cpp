// GPUs as NVML sees them, with a stand-in for its library.
#include <gmock/gmock.h>

#include <map>

#include "nvml/quantities.h"
#include "nvml/sampler.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;

std::string stand_in() { return program("libnvml_standin.so"); }
constexpr std::size_t every_one = 99;

std::map<std::string, double> sampled(NvmlSampler& sampler, std::size_t slow_reads = every_one) {
  std::map<std::string, double> values;
  sampler.sample(slow_reads, [&](const NvmlSample& sample) { values.emplace(sample.name, sample.value); });
  return values;
}

TEST(Nvml, ValuesHaveUnitsAndDevicesAnIdentity) {
  NvmlSampler sampler{stand_in()};
  ASSERT_EQ(sampler.problem(), "");
  EXPECT_EQ(sampler.driver_version(), "580.65.06");
  ASSERT_EQ(sampler.devices().size(), 2U);
  EXPECT_EQ(sampler.devices()[1].uuid, "GPU-1");
  EXPECT_EQ(sampled(sampler), (std::map<std::string, double>{
                                  {"GPU 0 nvml_busy_percent", 97},
                                  {"GPU 0 nvml_memory_busy_percent", 45},
                                  {"GPU 0 memory_used_bytes", 20.0 * (1ULL << 30)},
                                  {"GPU 0 sm_clock_mhz", 1980},
                                  {"GPU 0 memory_clock_mhz", 2619},
                                  {"GPU 0 power_watts", 350.5},
                                  {"GPU 0 energy_joules", 9000},
                                  {"GPU 0 temperature_celsius", 61},
                                  {"GPU 0 throttle_reasons", 4},
                                  {"GPU 0 pcie_sent_bytes_per_second", 10240},
                                  {"GPU 0 pcie_received_bytes_per_second", 20480},
                                  {"GPU 0 nvlink_sent_bytes", 3072},
                                  {"GPU 0 nvlink_received_bytes", 4096},
                                  {"GPU 1 nvml_busy_percent", 97},
                                  {"GPU 1 nvml_memory_busy_percent", 45},
                                  {"GPU 1 memory_used_bytes", 20.0 * (1ULL << 30)},
                                  {"GPU 1 sm_clock_mhz", 1980},
                                  {"GPU 1 memory_clock_mhz", 2619},
                                  {"GPU 1 temperature_celsius", 61},
                                  {"GPU 1 throttle_reasons", 4},
                                  {"GPU 1 pcie_sent_bytes_per_second", 10240},
                                  {"GPU 1 pcie_received_bytes_per_second", 20480},
                              }));
}

TEST(Nvml, AGpuThatMigDividesIsMarked) {
  EXPECT_FALSE(NvmlSampler{stand_in()}.devices()[1].divided);
  const Variable mig{"STANDIN_NVML_MIG", "1"};
  const NvmlSampler sampler{stand_in()};
  EXPECT_TRUE(sampler.devices()[1].divided);
  EXPECT_FALSE(sampler.devices()[0].divided) << "it does not support MIG";
}

TEST(Nvml, WhatAGpuDoesNotSupportIsSaidOnce) {
  NvmlSampler sampler{stand_in()};
  sampled(sampler);
  sampled(sampler);
  std::vector<std::string> names;
  for (const NvmlMissing& missing : sampler.unsupported()) names.push_back(missing.name);
  EXPECT_THAT(
      names, ::testing::UnorderedElementsAre("GPU 0 ecc_uncorrected_errors", "GPU 1 power_watts", "GPU 1 energy_joules",
                                             "GPU 1 nvlink_sent_bytes", "GPU 1 nvlink_received_bytes",
                                             "GPU 1 ecc_uncorrected_errors", "GPU 1 gpm"));
}

TEST(Nvml, AValueThatFailsOnceIsAskedAgain) {
  NvmlSampler sampler{stand_in()};
  const auto temperatures = [&sampler] {
    return std::ranges::count_if(sampled(sampler),
                                 [](const auto& one) { return one.first.ends_with("temperature_celsius"); });
  };
  EXPECT_EQ(temperatures(), 2);
  {
    const Variable falters{"STANDIN_NVML_FALTERS", "1"};
    EXPECT_EQ(temperatures(), 0);
  }
  EXPECT_EQ(temperatures(), 2);
  EXPECT_THAT(sampler.unsupported(),
              ::testing::Not(::testing::Contains(::testing::Field(&NvmlMissing::name, HasSubstr("temperature")))));
}

TEST(Nvml, ValuesThatTakeLongToReadAreReadInTurn) {
  NvmlSampler sampler{stand_in()};
  const auto slow_ones = [&sampler](std::size_t slow_reads) {
    std::string names;
    for (const auto& [name, value] : sampled(sampler, slow_reads))
      if (name.find("pcie") != name.npos) names += name + ";";
    return names;
  };
  EXPECT_EQ(slow_ones(1), "GPU 0 pcie_sent_bytes_per_second;");
  EXPECT_EQ(slow_ones(1), "GPU 0 pcie_received_bytes_per_second;");
  EXPECT_EQ(slow_ones(2), "GPU 1 pcie_received_bytes_per_second;GPU 1 pcie_sent_bytes_per_second;");
  EXPECT_EQ(slow_ones(1), "GPU 0 pcie_sent_bytes_per_second;");
  EXPECT_EQ(NvmlSampler::slow_reads_in(200'000'000), 1U) << "a tenth of the time at 5 Hz";
  EXPECT_EQ(NvmlSampler::slow_reads_in(1'000'000'000), 5U);
  EXPECT_EQ(NvmlSampler::slow_reads_in(1'000'000), 1U);
}

TEST(Nvml, ErrorsAreReadOnceASecondAndAtBothEndsOfWhatIsRecorded) {
  constexpr const char* errors = "GPU 1 ecc_uncorrected_errors";
  NvmlSampler sampler{program("libnvml_ecc_standin.so")};
  EXPECT_EQ(sampled(sampler).at(errors), 7);
  EXPECT_FALSE(sampled(sampler).contains(errors)) << "within the same second";
  const Variable more{"STANDIN_NVML_ERRORS", "9"};
  std::map<std::string, double> last;
  sampler.pause([&](const NvmlSample& sample) { last.emplace(sample.name, sample.value); });
  EXPECT_EQ(last, (std::map<std::string, double>{{"GPU 0 ecc_uncorrected_errors", 9}, {errors, 9}}));
  EXPECT_EQ(sampled(sampler).at(errors), 9) << "what is recorded next begins with a value, too";
  EXPECT_EQ(nvml::rare_period_ns, 1'000'000'000);
}

TEST(Nvml, WithoutADriverTheReasonIsAsNvmlPutsIt) {
  const Variable fails{"STANDIN_NVML_FAILS", "1"};
  EXPECT_EQ(NvmlSampler{stand_in()}.problem(), "NVML cannot be initialized: Driver Not Loaded");
  EXPECT_THAT(NvmlSampler{"/nonexistent/libnvidia-ml.so.1"}.problem(), HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(NvmlSampler{"libm.so.6"}.problem(), HasSubstr("lacks NVML functions that rankscope needs"));
}

Recorded record_gpus(const Folder& folder, const std::string& local_rank) {
  const Variable library{"RANKSCOPE_NVML", stand_in()};
  const Variable rank{"RANK", local_rank};
  const Variable world{"WORLD_SIZE", "2"};
  const Variable local{"LOCAL_RANK", local_rank};
  RecordOptions options{.command = {program("cupti_actor"), local_rank == "0" ? "sampled" : "nothing"}};
  options.collect = "annotate,nvml";
  return record(folder, options);
}

TEST(Nvml, TheFirstRankOfAHostSamplesItsGpus) {
  const Folder folder;
  const Recorded recorded = record_gpus(folder, "0");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const auto track = std::ranges::find_if(
      run.counters(), [&](const CounterTrack& one) { return run.text(one.name) == "GPU 0 nvml_busy_percent"; });
  ASSERT_NE(track, run.counters().end());
  EXPECT_EQ(run.samples_of(*track).front().value, 97);
  EXPECT_EQ(run.metadata(run.processes()[0], "nvml_gpu_1"), "GPU-1 NVIDIA Stand-in");
  EXPECT_EQ(run.metadata(run.processes()[0], "driver_version"), "580.65.06");
}

TEST(Nvml, TheRecordingTellsThatMigDividesAGpu) {
  const Folder folder;
  const Variable mig{"STANDIN_NVML_MIG", "1"};
  const Recorded recorded = record_gpus(folder, "0");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->metadata(recorded.run->processes()[0], "nvml_mig_1"), "on");
  EXPECT_EQ(recorded.run->metadata(recorded.run->processes()[0], "nvml_mig_0"), "");
}

TEST(Nvml, WhatTheHardwareOfNewGpusCountsIsSampledWithoutPmSampling) {
  const Folder folder;
  const Recorded recorded = record_gpus(folder, "0");
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  std::map<std::string, double> values;
  for (const CounterTrack& track : run.counters())
    if (const std::string name{run.text(track.name)}; name.find("gpm_") != name.npos)
      values.emplace(name, run.samples_of(track).front().value);
  constexpr double mib = 1 << 20;
  EXPECT_EQ(values, (std::map<std::string, double>{{"GPU 0 gpm_sm_active_percent", 2},
                                                   {"GPU 0 gpm_sm_occupancy_percent", 3},
                                                   {"GPU 0 gpm_tensor_active_percent", 5},
                                                   {"GPU 0 gpm_dram_percent", 10},
                                                   {"GPU 0 gpm_pcie_sent_bytes_per_second", 20 * mib},
                                                   {"GPU 0 gpm_pcie_received_bytes_per_second", 21 * mib},
                                                   {"GPU 0 gpm_nvlink_sent_bytes_per_second", 61 * mib},
                                                   {"GPU 0 gpm_nvlink_received_bytes_per_second", 60 * mib}}));
  EXPECT_EQ(run.metadata(run.processes()[0], "nvml_without GPU 1 gpm"),
            "this GPU has no GPM, which needs Hopper or newer");
}

RunTime first_sample(const Run& run, std::string_view name) {
  const auto track =
      std::ranges::find_if(run.counters(), [&](const CounterTrack& one) { return run.text(one.name) == name; });
  return track == run.counters().end() ? RunTime{} : run.samples_of(*track).front().time;
}

TEST(Nvml, AValueHasTheTimeAtWhichItWasRead) {
  const Folder folder;
  const Variable slow{"STANDIN_NVML_SLOW", "1"};
  const Recorded recorded = record_gpus(folder, "0");
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_GE(first_sample(run, "GPU 1 nvml_busy_percent") - first_sample(run, "GPU 0 temperature_celsius"),
            nanoseconds{30'000'000});
}

/// sources_failed and the reason, of a process that initialised CUDA where there is no NVML.
std::pair<std::uint64_t, std::string> without_nvml(const std::string& collect) {
  const Folder folder;
  const Variable library{"RANKSCOPE_NVML", "/nonexistent/libnvidia-ml.so.1"};
  const Variable cupti{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  RecordOptions options{.command = {program("cupti_actor"), "lasting"}};
  options.collect = collect;
  const Recorded recorded = record(folder, options);
  if (!recorded.run) return {99, recorded.why};
  return {recorded.run->quality().of(Counter::sources_failed),
          std::string{recorded.run->metadata(recorded.run->processes()[0], "nvml_problem")}};
}

TEST(Nvml, ItsAbsenceIsAFailureOnlyWhereItWasNamed) {
  const auto by_default = without_nvml("");
  EXPECT_EQ(by_default.first, 0U) << "a container may lack it";
  EXPECT_THAT(by_default.second, HasSubstr("NVIDIA_DRIVER_CAPABILITIES"));
  const auto named = without_nvml("annotate,cupti,nvml");
  EXPECT_EQ(named.first, 1U);
  EXPECT_THAT(named.second, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
}

/// Of several processes that would all sample.
Recorded record_processes(const Folder& folder, const std::string& scene, const std::string& window = {}) {
  const Variable library{"RANKSCOPE_NVML", stand_in()};
  RecordOptions options{.command = {program("cupti_actor"), scene}, .window = window};
  options.collect = "annotate,nvml";
  return record(folder, options);
}

/// The processes that sampled the first GPU.
std::vector<std::uint32_t> samplers_of(const Run& run) {
  std::vector<std::uint32_t> processes;
  for (const CounterTrack& track : run.counters())
    if (run.text(track.name) == "GPU 0 nvml_busy_percent") processes.push_back(track.process);
  return processes;
}

TEST(Nvml, ALauncherThatInitialisedCudaAndItsRankDoNotBothSample) {
  const Folder folder;
  const Recorded recorded = record_processes(folder, "launches a rank");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->processes().size(), 2U);
  EXPECT_EQ(samplers_of(*recorded.run).size(), 1U);
}

TEST(Nvml, ALauncherWithoutStepsDoesNotKeepItsRankFromSamplingAWindow) {
  const Folder folder;
  const Recorded recorded = record_processes(folder, "launches a rank of steps", "1,0,1,1");
  EXPECT_EQ(recorded.status, 0) << "the rank samples";
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto samplers = samplers_of(*recorded.run);
  ASSERT_EQ(samplers.size(), 1U);
  EXPECT_TRUE(recorded.run->processes()[samplers[0]].rank.is_set());
}

TEST(Nvml, WhereTheProcessThatSampledHasEndedTheNextOneGoesOn) {
  const Folder folder;
  const Recorded recorded = record_processes(folder, "takes over");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(samplers_of(*recorded.run).size(), 2U);
}

TEST(Nvml, WhereNobodyCanClaimTheHostItIsSampledAllTheSame) {
  const Folder folder;
  const Recorded recorded = record_processes(folder, "cannot claim");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(samplers_of(*recorded.run).size(), 1U);
  EXPECT_THAT(told(*recorded.run, "nvml_problem"), HasSubstr("cannot be locked (Is a directory)"));
}

TEST(Nvml, OtherRanksDoNot) {
  const Folder folder;
  const Recorded recorded = record_gpus(folder, "1");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_TRUE(recorded.run->counters().empty());
}

}  // namespace
}  // namespace rankscope::collectors
