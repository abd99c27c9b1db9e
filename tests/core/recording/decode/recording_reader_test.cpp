#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rankscope/core/recording/recording.h"
#include "support/temporary_folder.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

TEST(Recording, BadPathsGetASentenceEach) {
  const testing::TemporaryFolder folder;
  EXPECT_NE(read_recording(folder / "absent").error().message.find("does not exist"), std::string::npos);
  fs::create_directory(folder / "empty");
  EXPECT_NE(read_recording(folder / "empty").error().message.find("empty folder"), std::string::npos);
  std::ofstream{folder / "empty" / "x.txt"} << "x";
  EXPECT_NE(read_recording(folder / "empty").error().message.find("not a recording"), std::string::npos);
  EXPECT_NE(read_recording(folder / "empty" / "x.txt").error().message.find("is a file"), std::string::npos);
}

TEST(Recording, AFolderThatMayNotBeReadIsNotCalledEmpty) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const testing::TemporaryFolder folder;
  const fs::path locked = folder / "locked";
  fs::create_directory(locked);
  fs::permissions(locked, fs::perms::none);
  const std::string refused = read_recording(locked).error().message;
  fs::permissions(locked, fs::perms::owner_all);
  EXPECT_NE(refused.find("cannot read " + locked.string() + ": Permission denied"), std::string::npos) << refused;
}

}  // namespace
}  // namespace rankscope::recording
