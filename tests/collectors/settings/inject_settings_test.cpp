#include <gmock/gmock.h>

#include <map>

#include "launch/environment.h"
#include "settings/inject_settings.h"

namespace rankscope::collectors {
namespace {

using Variables = std::map<std::string, std::string>;

Lookup in(const Variables& variables) {
  return [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Settings, SurviveTheEnvironment) {
  InjectSettings settings{.segments = "/spool",
                          .collect_named = true,
                          .ring_kib = 128,
                          .sample_hz = 2.5,
                          .rank_env = "MY_RANK",
                          .window = StepWindow{1, 2, 3, 4},
                          .until_ns = 123456789012345,
                          .cuda_graphs = GraphLevel::graph,
                          .pm_hz = 500,
                          .budget = 0.05,
                          .toggled = ToggledBy::cuda,
                          .follow = false};
  settings.collect.add(Source::host);
  settings.details.add(Detail::shapes);
  settings.details.add(Detail::modules);
  Variables variables;
  for (auto& [name, value] : to_variables(settings)) variables[name] = value;
  EXPECT_EQ(settings_from(in(variables)), settings);
}

TEST(Settings, ASampleIsTakenAsOftenAsAskedFor) {
  const SourceSet host = sources_from("host").value();
  EXPECT_EQ(sample_period({.collect = host, .sample_hz = 10}), std::chrono::milliseconds{100});
  EXPECT_EQ(sample_period({.collect = host, .sample_hz = slowest_sample_hz}), std::chrono::seconds{1000});
  EXPECT_EQ(sample_period({.collect = host, .sample_hz = 1e-10}), std::chrono::seconds{1000}) << "not all the time";
  EXPECT_EQ(sample_period({.collect = host, .sample_hz = 0}).count(), 0);
  EXPECT_EQ(sample_period({.sample_hz = 10}).count(), 0) << "the source host is left out";
}

TEST(Settings, WhatCannotBeReadKeepsItsDefault) {
  const Variables variables{{"RANKSCOPE_SEGMENTS", "/s"},
                            {"RANKSCOPE_RING_KIB", "much"},
                            {"RANKSCOPE_WINDOW", "1,2"},
                            {"RANKSCOPE_COLLECT", "nonsense"},
                            {"RANKSCOPE_SAMPLE_HZ", "1e-10"}};
  const InjectSettings settings = settings_from(in(variables));
  EXPECT_EQ(settings.sample_hz, 10);
  EXPECT_EQ(settings.ring_kib, 4096U);
  EXPECT_FALSE(settings.window.has_value());
  EXPECT_EQ(settings.collect, all_sources());
}

std::string recorded_steps(const StepWindow& window, std::uint64_t steps) {
  std::string text;
  for (std::uint64_t step = 0; step < steps; ++step) text += window.records(step) ? '#' : '.';
  return text;
}

TEST(Window, CountsAsTheProfilersScheduleDoes) {
  EXPECT_EQ(recorded_steps({.wait = 1, .warmup = 1, .active = 3, .repeat = 1}, 12), "..###.......");
  EXPECT_EQ(recorded_steps({.wait = 1, .warmup = 1, .active = 2, .repeat = 0}, 12), "..##..##..##");
  EXPECT_EQ(recorded_steps({.wait = 0, .warmup = 0, .active = 1, .repeat = 0}, 4), "####");
}

TEST(Window, IsReadFromFourNumbers) {
  EXPECT_EQ(step_window_from("10,2,5,1").value(), (StepWindow{10, 2, 5, 1}));
  EXPECT_EQ(step_window_from("0,0,3").value(), (StepWindow{0, 0, 3, 0}));
  for (const char* wrong : {"", "1", "1,2", "1,2,0", "1,2,3,4,5", "1,,2,3", "a,b,c", "1,2,-3", "1,2,3,"}) {
    EXPECT_EQ(step_window_from(wrong).error().kind, ErrorKind::usage) << wrong;
  }
}

TEST(Sources, AreReadFromAList) {
  SourceSet set;
  set.add(Source::host);
  set.add(Source::annotate);
  EXPECT_EQ(sources_from("host,annotate").value(), set);
  EXPECT_EQ(name_of(set), "annotate,host");
  EXPECT_EQ(sources_from("").value(), all_sources());
  EXPECT_EQ(sources_from("all").value(), all_sources());
}

TEST(Sources, CountersOfTheHardwareAreOnlyRecordedWhereTheyAreNamed) {
  EXPECT_FALSE(sources_from("all").value().has(Source::pm));
  EXPECT_TRUE(sources_from("host,pm").value().has(Source::pm));
}

TEST(Sources, UnknownAndMissingOnesAreUsageErrorsThatSayWhatThereIs) {
  using ::testing::MatchesRegex;
  EXPECT_THAT(sources_from("hots").error().message,
              MatchesRegex("--collect: unknown source 'hots'; the sources are annotate, (nvtx, )?host, cupti, nccl, "
                           "nvml, pm(; not in this build: nvtx)?"));
  for (const SourceInfo& info : sources()) {
    if (info.built) continue;
    EXPECT_THAT(sources_from("host," + std::string{info.id}).error().message,
                ::testing::HasSubstr("is not in this build; the sources are annotate, host"));
  }
}

TEST(Sources, EveryRowOfTheTableStandsAtItsNumber) {
  std::size_t index = 0;
  for (const SourceInfo& info : sources()) EXPECT_EQ(static_cast<std::size_t>(info.source), index++) << info.id;
}

TEST(Settings, ABudgetIsAPercentageOrOff) {
  EXPECT_EQ(budget_from("").value(), 0.01);
  EXPECT_EQ(budget_from("1%").value(), 0.01);
  EXPECT_DOUBLE_EQ(budget_from("0.5%").value(), 0.005);
  EXPECT_EQ(budget_from("off").value(), 0);
  for (const char* const text : {"1", "0%", "-1%", "101%", "%", "much", "1 %"})
    EXPECT_THAT(budget_from(text).error().message,
                ::testing::HasSubstr("--budget must be a percentage above 0% and up to 100%, such as 1%, or off"))
        << text;
}

std::string value_in(const CommandEnvironment& environment, const std::string& name) {
  for (const auto& [key, value] : environment.variables) {
    if (key == name) return value;
  }
  return "(none)";
}

TEST(CommandEnvironment, NamesTheLibraryInEveryHook) {
  const auto environment =
      command_environment(in({}), {.collect = all_sources()}, "/l/librankscope_inject.so", Preload::yes);
  EXPECT_EQ(value_in(environment, "NVTX_INJECTION64_PATH"), "/l/librankscope_inject.so");
  EXPECT_EQ(value_in(environment, "CUDA_INJECTION64_PATH"), "/l/librankscope_inject.so");
  EXPECT_EQ(value_in(environment, "LD_PRELOAD"), "/l/librankscope_inject.so");
  EXPECT_TRUE(environment.warnings.empty());
}

TEST(CommandEnvironment, KeepsOthersAndSaysWhatIsLost) {
  const Variables theirs{{"NVTX_INJECTION64_PATH", "/opt/nsys/libToolsInjection64.so"},
                         {"CUDA_INJECTION64_PATH", "/opt/other.so"},
                         {"LD_PRELOAD", "/usr/lib/libjemalloc.so:/old/librankscope_inject.so"}};
  const auto environment =
      command_environment(in(theirs), {.collect = all_sources()}, "/l/librankscope_inject.so", Preload::yes);
  EXPECT_EQ(value_in(environment, "NVTX_INJECTION64_PATH"), "(none)");
  EXPECT_EQ(value_in(environment, "CUDA_INJECTION64_PATH"), "(none)");
  EXPECT_EQ(value_in(environment, "LD_PRELOAD"), "/usr/lib/libjemalloc.so:/l/librankscope_inject.so");
  ASSERT_EQ(environment.warnings.size(), 2U);
  EXPECT_THAT(environment.warnings[0],
              ::testing::HasSubstr("/opt/nsys/libToolsInjection64.so and was not changed, so NVTX ranges"));
}

TEST(CommandEnvironment, ApptainerAndSingularityHandTheVariablesIntoTheirContainers) {
  const Variables theirs{{"APPTAINERENV_NVTX_INJECTION64_PATH", "/opt/nsys/libToolsInjection64.so"}};
  const auto environment =
      command_environment(in(theirs), {.collect = all_sources()}, "/l/librankscope_inject.so", Preload::yes);
  for (const std::string prefix : {"APPTAINERENV_", "SINGULARITYENV_"}) {
    EXPECT_EQ(value_in(environment, prefix + "CUDA_INJECTION64_PATH"), "/l/librankscope_inject.so");
    EXPECT_EQ(value_in(environment, prefix + "RANKSCOPE_COLLECT"), name_of(all_sources()));
  }
  EXPECT_EQ(value_in(environment, "APPTAINERENV_NVTX_INJECTION64_PATH"), "(none)") << "another tool's is kept";
}

TEST(CommandEnvironment, ContainersPreloadWhatTheUserPreloadsAndNotTheLibrary) {
  const auto environment_with = [](const Variables& theirs) {
    return command_environment(in(theirs), {.collect = all_sources()}, "/l/librankscope_inject.so", Preload::yes);
  };
  const auto bare = environment_with({});
  EXPECT_EQ(value_in(bare, "APPTAINERENV_LD_PRELOAD"), "") << "else the host's would be handed in, with the library";
  EXPECT_EQ(value_in(bare, "SINGULARITYENV_LD_PRELOAD"), "");
  EXPECT_EQ(value_in(bare, "LD_PRELOAD"), "/l/librankscope_inject.so");
  const auto theirs = environment_with({{"LD_PRELOAD", "/usr/lib/libjemalloc.so:/old/librankscope_inject.so"},
                                        {"SINGULARITYENV_LD_PRELOAD", "/in/image.so:/old/librankscope_inject.so"}});
  EXPECT_EQ(value_in(theirs, "APPTAINERENV_LD_PRELOAD"), "/usr/lib/libjemalloc.so");
  EXPECT_EQ(value_in(theirs, "SINGULARITYENV_LD_PRELOAD"), "/in/image.so");
  EXPECT_EQ(value_in(theirs, "LD_PRELOAD"), "/usr/lib/libjemalloc.so:/l/librankscope_inject.so");
}

TEST(CommandEnvironment, NoFollowReachesIntoNoContainer) {
  const auto environment =
      command_environment(in({}), {.collect = all_sources(), .follow = false}, "/l/lib.so", Preload::yes);
  EXPECT_EQ(value_in(environment, "APPTAINERENV_RANKSCOPE_COLLECT"), "(none)");
  EXPECT_EQ(value_in(environment, "APPTAINERENV_LD_PRELOAD"), "") << "nor does the host's, with the library";
}

TEST(CommandEnvironment, SourcesThatAnotherToolKeepsAreKnown) {
  const Variables theirs{{"CUDA_INJECTION64_PATH", "/opt/other.so"}};
  const auto environment =
      command_environment(in(theirs), {.collect = all_sources()}, "/l/librankscope_inject.so", Preload::yes);
  EXPECT_EQ(environment.lost, sources_from("cupti,nvml,pm").value());
}

TEST(CommandEnvironment, NoPreloadLeavesLdPreloadAlone) {
  const auto environment =
      command_environment(in({}), {.collect = all_sources()}, "/l/librankscope_inject.so", Preload::no);
  EXPECT_EQ(value_in(environment, "LD_PRELOAD"), "(none)");
}

}  // namespace
}  // namespace rankscope::collectors
