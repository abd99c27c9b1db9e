#include "host/sampler.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <map>
#include <string>

namespace rankscope::collectors {
namespace {

std::map<std::string, double> by_name(std::span<const HostSample> samples) {
  std::map<std::string, double> values;
  for (const HostSample& sample : samples) values.emplace(sample.name, sample.value);
  return values;
}

void use_cpu(double seconds) {
  const double end = static_cast<double>(std::clock()) / CLOCKS_PER_SEC + seconds;
  while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < end) {
  }
}

TEST(HostSampler, TellsTheOwnProcess) {
  HostSampler sampler{HostSampler::own_process, Pressure::skip};
  const auto first = by_name(sampler.sample());
  EXPECT_EQ(first.at("cpu_percent"), 0);
  EXPECT_GT(first.at("rss_bytes"), 1e6);
  EXPECT_GT(first.at("page_faults_minor"), 100);
  for (const char* name : {"context_switches_voluntary", "context_switches_involuntary", "page_faults_major",
                           "read_bytes", "written_bytes", "disk_read_bytes", "disk_written_bytes"}) {
    EXPECT_TRUE(first.contains(name)) << name;
  }
  use_cpu(0.05);
  EXPECT_GT(by_name(sampler.sample()).at("cpu_percent"), 5);
}

TEST(HostSampler, TellsAnotherProcessUntilItIsGone) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  HostSampler sampler{child, Pressure::skip};
  EXPECT_GT(by_name(sampler.sample()).at("rss_bytes"), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(sampler.sample().empty());
}

TEST(HostSampler, TellsPressureWhereTheKernelDoes) {
  if (access("/proc/pressure/cpu", R_OK) != 0) GTEST_SKIP() << "this kernel has no /proc/pressure";
  HostSampler sampler{HostSampler::own_process, Pressure::sample};
  EXPECT_FALSE(by_name(sampler.sample()).contains("pressure_cpu_percent")) << "a rate needs two samples";
  const auto second = by_name(sampler.sample());
  for (const char* name : {"pressure_cpu_percent", "pressure_memory_percent", "pressure_io_percent"}) {
    EXPECT_GE(second.at(name), 0) << name;
  }
}

}  // namespace
}  // namespace rankscope::collectors
