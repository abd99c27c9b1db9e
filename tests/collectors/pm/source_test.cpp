// Sampling of the hardware's counters, with a stand-in for the part of libcupti that does it.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct StandIn {
  std::string library = "libcupti_standin.so";  ///< or a path
  std::string refuses{};
  std::string chip{};
  std::string room{};
  std::string overflows{};
  std::string falters{};
  std::string idle{};
  std::string ahead_ns{};
  std::string needs_host{};
  std::string version{};
  std::string stops_early{};
};

Recorded play(const Folder& folder, const std::string& scene, const StandIn& stand_in = {},
              RecordOptions options = {}) {
  const bool is_path = stand_in.library.front() == '/';
  const Variable library{"RANKSCOPE_CUPTI", is_path ? stand_in.library : program(stand_in.library)};
  const Variable driver{"RANKSCOPE_CUDA", program("libcupti_standin.so")};
  const Variable refuses{"STANDIN_PM_REFUSES", stand_in.refuses};
  const Variable chip{"STANDIN_PM_CHIP", stand_in.chip};
  const Variable room{"STANDIN_PM_ROOM", stand_in.room};
  const Variable overflows{"STANDIN_PM_OVERFLOWS", stand_in.overflows};
  const Variable falters{"STANDIN_PM_FALTERS", stand_in.falters};
  const Variable idle{"STANDIN_PM_IDLE", stand_in.idle};
  const Variable ahead{"STANDIN_CUPTI_AHEAD_NS", stand_in.ahead_ns};
  const Variable host{"STANDIN_PM_NEEDS_HOST", stand_in.needs_host};
  const Variable version{"STANDIN_CUPTI_VERSION", stand_in.version};
  const Variable early{"STANDIN_PM_STOPS_EARLY", stand_in.stops_early};
  options.command = {program("pm_actor"), scene};
  if (options.collect.empty()) options.collect = "annotate";
  if (options.pm_sampling.empty()) options.pm_sampling = "1000";
  return record(folder, options);
}

/// Values of the counters, each once.
std::map<std::string, std::set<double>> values_of(const Run& run) {
  std::map<std::string, std::set<double>> values;
  for (const CounterTrack& track : run.counters())
    for (const CounterSample& sample : run.samples_of(track))
      values[std::string{run.text(track.name)}].insert(sample.value);
  return values;
}
std::vector<CounterSample> samples_of(const Run& run, std::string_view name) {
  std::vector<CounterSample> samples;
  for (const CounterTrack& track : run.counters())
    if (run.text(track.name) == name)
      for (const CounterSample& sample : run.samples_of(track)) samples.push_back(sample);
  return samples;
}

TEST(PmSampling, CountersHaveUnitsAndTheirGpu) {
  const Folder folder;
  const Recorded recorded = play(folder, "some");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(values_of(run), (std::map<std::string, std::set<double>>{{"GPU 0 sm_active_percent", {62.5}},
                                                                     {"GPU 0 tensor_active_percent", {31.25}},
                                                                     {"GPU 0 dram_read_percent", {12.5}},
                                                                     {"GPU 0 dram_write_percent", {12.5}},
                                                                     {"GPU 0 nvlink_received_bytes_per_second", {1e9}},
                                                                     {"GPU 0 nvlink_sent_bytes_per_second", {1e9}},
                                                                     {"GPU 0 pcie_read_bytes_per_second", {1e9}},
                                                                     {"GPU 0 pcie_write_bytes_per_second", {1e9}},
                                                                     {"GPU 0 pcie_active_percent", {12.5}}}));
  EXPECT_THAT(std::string{told(run, "pm_gpu_0")},
              AllOf(HasSubstr("GPU-10101010-1010-1010-1010-101010101010 GH100 at 1000 Hz: "),
                    HasSubstr("sm__cycles_active.avg.pct_of_peak_sustained_elapsed")));
  EXPECT_EQ(lost(run, Counter::gpu_clocks_held), 1U);
  for (const Counter counter :
       {Counter::pm_samples_dropped, Counter::pm_metrics_left_out, Counter::sources_failed, Counter::events_dropped})
    EXPECT_EQ(lost(run, counter), 0U) << info_of(counter).name;
}

TEST(PmSampling, SamplesFollowEachOtherOnTheClockOfTheHost) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.ahead_ns = "-5000000000000"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto samples = samples_of(*recorded.run, "GPU 0 sm_active_percent");
  ASSERT_GE(samples.size(), 19U) << "all but the first";
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const auto apart = (samples[i].time - samples[i - 1].time).count();
    EXPECT_NEAR(static_cast<double>(apart), 1e6, 1e5) << i;
  }
  const Process& process = recorded.run->processes()[0];
  EXPECT_LT(process.recorded.length(), nanoseconds{60'000'000'000}) << "5000 s of difference are gone";
}

TEST(PmSampling, SamplesAreTakenToTheLastWhereverCuptiStops) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.stops_early = "1"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto samples = samples_of(*recorded.run, "GPU 0 sm_active_percent");
  ASSERT_GE(samples.size(), 19U);
  for (std::size_t i = 1; i < samples.size(); ++i)
    EXPECT_LT((samples[i].time - samples[i - 1].time).count(), 1'500'000) << "none is left behind: " << i;
  const auto missing = recorded.run->processes()[0].recorded.end - samples.back().time;
  EXPECT_LT(missing.count(), 300'000'000) << "of three at a time, ten times a second, most would be left";
}

TEST(PmSampling, VersionsThatReadAnotherGpuAreRefused) {
  const Folder folder;
  const Recorded recorded = play(folder, "refused", {.version = "24"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "pm_problem")},
              AllOf(HasSubstr("needs CUDA 12.8 or later (this is CUPTI 24)"), HasSubstr("the wrong GPU")));
  EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 1U);
}

TEST(PmSampling, IsOffUnlessItIsNamed) {
  const Folder folder;
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable driver{"RANKSCOPE_CUDA", program("libcupti_standin.so")};
  RecordOptions options{.command = {program("cupti_actor"), "some"}};
  const Recorded recorded = record(folder, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "pm_gpu_0"), "");
  EXPECT_EQ(told(*recorded.run, "pm_problem"), "");
}

TEST(PmSampling, WithoutPermissionItSaysWhatToDo) {
  for (const char* refused : {"initialize=35", "availability=35", "enable=35"}) {
    const Folder folder;
    const Recorded recorded = play(folder, "refused", {.refuses = refused});
    EXPECT_EQ(recorded.status, 0);
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_THAT(std::string{told(*recorded.run, "pm_problem")},
                AllOf(HasSubstr("is not allowed to read"), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"),
                      HasSubstr("CAP_")));
    EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 1U) << "it was asked for by name";
    EXPECT_THAT(recorded.run->counters(), IsEmpty());
  }
}

TEST(PmSampling, ARivalIsSaidAndEverythingElseRecorded) {
  const Folder folder;
  const Recorded recorded = play(folder, "refused", {.refuses = "enable=26"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "pm_problem")},
              AllOf(HasSubstr("another program is using"), HasSubstr("dcgmi profile --pause")));
  EXPECT_THAT(marks_of(*recorded.run), ElementsAre("played"));
}

TEST(PmSampling, ARefusalWhileItSamplesEndsIt) {
  const Folder folder;
  const Recorded recorded = play(folder, "refused", {.refuses = "decode=999"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "pm_problem")}, HasSubstr("reading the counters of GPU 0"));
  EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 1U);
}

TEST(PmSampling, AnOlderCuptiIsSaid) {
  const Folder folder;
  const Recorded recorded = play(folder, "refused", {.library = "libcupti_old_standin.so"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "pm_problem")},
              AllOf(HasSubstr("CUDA 12.8 or later"), HasSubstr("CUPTI 22")));
}

TEST(PmSampling, CuptisHostLibraryIsTakenFromTheFolderOfCupti) {
  const Folder libraries;  // that no variable and no cache of the linker names
  fs::copy_file(program("libcupti_standin.so"), libraries / "real.so");
  fs::create_directory(libraries / "links");
  fs::create_symlink(libraries / "real.so", libraries / "links/libcupti.so.13");
  fs::copy_file(program("libnvperf_standin.so"), libraries / "libnvperf_host.so");
  for (const char* name : {"real.so", "links/libcupti.so.13"}) {
    const Folder out;
    const Recorded recorded = play(out, "some", {.library = libraries / name, .needs_host = "1"});
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_EQ(told(*recorded.run, "pm_problem"), "") << name;
    EXPECT_THAT(samples_of(*recorded.run, "GPU 0 sm_active_percent"), Not(IsEmpty())) << name;
  }
}

TEST(PmSampling, WithoutCuptisHostLibraryItSaysWhereItBelongs) {
  const Folder folder;
  const Recorded recorded = play(folder, "refused", {.needs_host = "1"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(
      std::string{told(*recorded.run, "pm_problem")},
      AllOf(HasSubstr("libnvperf_host.so was not found"),
            HasSubstr("Copy it to " + std::string{RANKSCOPE_TEST_PROGRAMS}), Not(HasSubstr("another profiler"))));
}

TEST(PmSampling, WhatDoesNotFitIntoOnePassIsLeftOutAndCounted) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.room = "3"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(values_of(run),
              ElementsAre(::testing::Key("GPU 0 dram_read_percent"), ::testing::Key("GPU 0 sm_active_percent"),
                          ::testing::Key("GPU 0 tensor_active_percent")));
  EXPECT_EQ(lost(run, Counter::pm_metrics_left_out), 6U);
  EXPECT_THAT(std::string{told(run, "pm_without GPU 0 dram_write_percent")}, HasSubstr("does not fit into one pass"));
}

TEST(PmSampling, AChipIsAskedByTheNamesThatItHas) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.chip = "AD102"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(std::string{told(run, "pm_gpu_0")}, HasSubstr("sm__pipe_tensor_cycles_active.avg"));
  EXPECT_THAT(values_of(run), Contains(::testing::Key("GPU 0 tensor_active_percent")));
  EXPECT_THAT(std::string{told(run, "pm_without GPU 0 nvlink_sent_bytes_per_second")}, HasSubstr("no such counter"));
  EXPECT_EQ(lost(run, Counter::pm_metrics_left_out), 2U);
}

TEST(PmSampling, WhatAFullBufferLostIsCounted) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.overflows = "1"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::pm_samples_dropped), 3U);
  EXPECT_THAT(samples_of(*recorded.run, "GPU 0 sm_active_percent"), Not(IsEmpty()));
}

TEST(PmSampling, AValueThatIsNoNumberIsLeftOutAndCounted) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.falters = "1"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::pm_samples_dropped), 1U);
  EXPECT_EQ(samples_of(*recorded.run, "GPU 0 tensor_active_percent").size() + 1,
            samples_of(*recorded.run, "GPU 0 sm_active_percent").size());
}

TEST(PmSampling, TheWindowHolds) {
  const Folder folder;
  RecordOptions options;
  options.window = "1,0,1,1";
  const Recorded recorded = play(folder, "steps", {}, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const Span* const step = span_named(*recorded.run, "step");
  ASSERT_NE(step, nullptr);
  const auto samples = samples_of(*recorded.run, "GPU 0 sm_active_percent");
  EXPECT_THAT(samples, Not(IsEmpty()));
  for (const CounterSample& sample : samples) {
    EXPECT_GE(sample.time, step->time.begin - nanoseconds{1'000'000});
    EXPECT_LE(sample.time, step->time.end + nanoseconds{1'000'000});
  }
}

TEST(PmSampling, AfterTheDurationTheGpuIsLetGo) {
  const Folder folder;
  RecordOptions options;
  options.duration_s = 3;  // long enough for the five samples that the program waits for, on a busy machine, too
  const Recorded recorded = play(folder, "outlives", {}, options);
  EXPECT_EQ(recorded.status, 0) << "the program waits until nobody samples";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(samples_of(*recorded.run, "GPU 0 sm_active_percent"), Not(IsEmpty()));
}

TEST(PmSampling, AProcessThatEndsHandsOverWhatWasNotReadYet) {
  const Folder folder;
  const Recorded recorded = play(folder, "brief");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_GE(samples_of(*recorded.run, "GPU 0 sm_active_percent").size(), 25U);
}

TEST(PmSampling, AKilledProcessKeepsWhatWasDecoded) {
  const Folder folder;
  const Recorded recorded = play(folder, "death");
  EXPECT_EQ(recorded.status, 128 + 9);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_GE(samples_of(*recorded.run, "GPU 0 sm_active_percent").size(), 19U);
}

TEST(PmSampling, TheChildOfAForkLeavesTheGpuAlone) {
  const Folder folder;
  const Recorded recorded = play(folder, "fork");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 0U);
}

TEST(PmSampling, OfTwoProcessesOnOneGpuTheFirstSamplesIt) {
  const Folder folder;
  const Recorded recorded = play(folder, "two");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  ASSERT_EQ(run.processes().size(), 2U);
  EXPECT_EQ(std::ranges::count_if(run.processes(),
                                  [&](const Process& process) { return !run.metadata(process, "pm_gpu_0").empty(); }),
            1);
  EXPECT_EQ(lost(run, Counter::sources_failed), 0U) << "the second has nothing to say";
}

TEST(PmSampling, AGpuThatNobodyUsesIsLeftAlone) {
  const Folder folder;
  const Recorded recorded = play(folder, "unused", {.idle = "1"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "pm_gpu_0"), "");
  EXPECT_EQ(recorded.summary.sources.sampled_gpus, 0U);
}

TEST(PmSampling, RatesThatAreNoneAreUsageErrors) {
  for (const char* rate : {"0", "-1", "20000", "often", "nan", "1e99"}) {
    const Folder folder;
    EXPECT_THAT(play(folder, "some", {}, {.pm_sampling = rate}).why,
                HasSubstr("--pm-sampling must be a number from 1 to 10000 (is \""))
        << rate;
  }
}

}  // namespace
}  // namespace rankscope::collectors
