// The out-of-memory killer, as the kernel counts it.
#include "host/oom_kills.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream{path} << text;
}

TEST(OomKills, AreReadOfTheHostAndOfTheCgroup) {
  const testing::TemporaryFolder root;
  write_text(root / "proc/vmstat", "pgfault 7\noom_kill 3\n");
  write_text(root / "proc/self/cgroup", "0::/slurm/job_7\n");
  write_text(root / "sys/fs/cgroup/slurm/job_7/memory.events", "low 0\noom 4\noom_kill 2\noom_group_kill 0\n");
  const OomKills found = oom_kills_so_far(root.path());
  EXPECT_EQ(found.on_host, 3U);
  EXPECT_EQ(found.in_cgroup, 2U) << "not those of the line oom";
  EXPECT_TRUE(found.below_too);
}

TEST(OomKills, OfVersion1AreReadFromTheCgroupOfItsMemory) {
  const testing::TemporaryFolder root;
  write_text(root / "proc/self/cgroup", "9:name=systemd:/\n4:memory:/job\n1:cpu,cpuacct:/other\n0::/\n");
  write_text(root / "sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  const OomKills found = oom_kills_so_far(root.path());
  EXPECT_EQ(found.in_cgroup, 5U);
  EXPECT_FALSE(found.below_too);
  EXPECT_FALSE(found.on_host) << "an old kernel does not count them";
}

TEST(OomKills, OnlyWhatWasAddedCountsAndTheCgroupComesFirst) {
  EXPECT_EQ(oom_kills_between({.on_host = 3, .in_cgroup = 2}, {.on_host = 5, .in_cgroup = 3}), "cgroup 1");
  EXPECT_EQ(oom_kills_between({.on_host = 3, .in_cgroup = 2}, {.on_host = 5, .in_cgroup = 2}), "host 2")
      << "the victims may be in a cgroup below it";
  EXPECT_EQ(oom_kills_between({.on_host = 3, .in_cgroup = 2}, {.on_host = 5, .in_cgroup = 2, .below_too = true}), "")
      << "the victims were of another job";
  EXPECT_EQ(oom_kills_between({.on_host = 3, .in_cgroup = 2}, {.on_host = 3, .in_cgroup = 2}), "");
  EXPECT_EQ(oom_kills_between({.on_host = 3}, {}), "") << "not known";
  EXPECT_EQ(oom_kills_between({.in_cgroup = 9}, {.in_cgroup = 1}), "") << "a cgroup that was made again";
}

TEST(OomKills, OfThisHostAreReadIfItsKernelCountsThem) {
  const bool counts = testing::read_file("/proc/vmstat").find("\noom_kill ") != std::string::npos;
  EXPECT_EQ(oom_kills_so_far("/").on_host.has_value(), counts);
}

}  // namespace
}  // namespace rankscope::collectors
