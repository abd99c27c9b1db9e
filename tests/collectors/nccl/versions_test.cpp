// Real libnccls of many versions, each in a folder of its own below RANKSCOPE_TEST_NCCL_VERSIONS (scripts/versions
// fills it). Without the variable these tests are skipped.
#include <gmock/gmock.h>

#include <algorithm>

#include "nccl/library.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

std::vector<fs::path> libraries() {
  std::vector<fs::path> found;
  const char* const folder = std::getenv("RANKSCOPE_TEST_NCCL_VERSIONS");
  if (folder == nullptr) return found;
  for (const fs::directory_entry& version : fs::directory_iterator{folder})
    if (fs::exists(version.path() / "libnccl.so.2")) found.push_back(version.path() / "libnccl.so.2");
  std::ranges::sort(found);
  return found;
}

/// Of the plugin interface, by the name of a library's folder: "2.28.9".
std::string interface_of(const fs::path& library) {
  const int minor = std::stoi(library.parent_path().filename().string().substr(2));
  if (minor <= 23) return "1";
  if (minor <= 25) return "2";
  if (minor >= 31) return "7";
  return minor >= 29 ? "6" : std::to_string(minor - 23);
}

TEST(NcclVersions, EachLoadsThePluginAndItsCollectivesAndSendsAreRecorded) {
  const std::vector<fs::path> all = libraries();
  if (all.empty()) GTEST_SKIP() << "no libnccl below RANKSCOPE_TEST_NCCL_VERSIONS";
  for (const fs::path& library : all) {
    SCOPED_TRACE(library);
    const Folder folder;
    const Played played = play(folder, "operations", "kernel,proxy", library);
    EXPECT_EQ(played.status, 0) << played.said;
    ASSERT_TRUE(played.run) << played.why;
    const auto& run = *played.run;
    EXPECT_EQ(told(run, "nccl_profiler_version"), interface_of(library));
    constexpr int asked = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12;
    EXPECT_THAT(played.said, HasSubstr("mask " + std::to_string(asked)));
    const auto reduces = spans_of_nccl(run, "allreduce");
    ASSERT_THAT(reduces, SizeIs(2));
    EXPECT_THAT(attributes_of(run, *reduces[0]),
                IsSupersetOf({"algorithm=RING", "protocol=LL128", "channels=24", "nccl_sequence=0"}));
    EXPECT_EQ(run.text(run.lane(reduces[0]->lane).name), "NCCL communicator 0xfedcba9876543210");
    EXPECT_THAT(spans_of_nccl(run, "allgather"), SizeIs(1));
    EXPECT_THAT(spans_of_nccl(run, "send"), SizeIs(1));
    EXPECT_EQ(lost(run, Counter::activities_unknown), 0U);
  }
}

}  // namespace
}  // namespace rankscope::collectors
