#include "rankscope/analyzer/output_file.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "exports/shared/output_place.h"
#include "rankscope/core/format.h"
#include "support/file_size_limit.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using testing::FileSizeLimit;
using testing::read_file;
using testing::TemporaryFolder;

TEST(OutputFile, AppearsWithItsWholeContent) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "out.json", "{}\n"));
  EXPECT_EQ(read_file(folder / "out.json"), "{}\n");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(OutputFile, WithoutCommitNothingIsLeftOrOverwritten) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "out.json", "old"));
  {
    auto file = OutputFile::create(folder / "out.json");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
  }
  EXPECT_EQ(read_file(folder / "out.json"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

/// The hidden name that a process with our number on another host may be writing.
std::string name_of_another(const TemporaryFolder& folder) {
  return (folder / format(".out.json.{}~", getpid())).string();
}

TEST(OutputFile, AHiddenFileOfAnotherProcessIsNeitherRemovedNorWritten) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "out.json", "old"));
  ASSERT_TRUE(write_file(name_of_another(folder), "theirs"));
  ASSERT_TRUE(write_file(folder / "out.json", "new"));
  EXPECT_EQ(read_file(folder / "out.json"), "new");
  EXPECT_EQ(read_file(name_of_another(folder)), "theirs");
  EXPECT_EQ(folder.file_count(), 2U);
}

/// In a child process for which no file without a name can be made; its exit status.
int run_without_proc(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const bool hidden = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
    _exit(hidden ? work() : 77);
  }
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST(OutputFile, WhereFilesNeedANameTwoWritersDoNotShareOne) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "theirs", "theirs"));
  const int status = run_without_proc([&folder] {
    std::filesystem::rename(folder / "theirs", name_of_another(folder));
    auto one = OutputFile::create(folder / "out.json");
    auto two = OutputFile::create(folder / "out.json");
    if (!one || !two || !one->write("one") || !two->write("two")) return 1;
    return one->commit() && read_file(folder / "out.json") == "one" && two->commit() &&
                   read_file(folder / "out.json") == "two" && read_file(name_of_another(folder)) == "theirs"
               ? 0
               : 2;
  });
  if (status == 77) GTEST_SKIP() << "hiding /proc needs root";
  EXPECT_EQ(status, 0);
}

TEST(OutputFile, AFolderThatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  const auto written = write_file(folder.path() / "absent" / "out.json", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_NE(written.error().message.find((folder.path() / "absent" / "out.json").string()), std::string::npos);
  EXPECT_NE(written.error().message.find("its folder does not exist"), std::string::npos);
  EXPECT_EQ(written.error().message.find("No such file"), std::string::npos) << "once is enough";
}

TEST(OutputFile, AFolderInWhichNoFileCanBeMadeIsNotCalledAbsent) {
  const auto written = write_file("/proc/x.json", "x");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("no file can be created in its folder"), std::string::npos)
      << written.error().message;
}

TEST(OutputFile, AFolderIsNoTarget) {
  const TemporaryFolder folder;
  const auto written = write_file(folder.path(), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_NE(written.error().message.find("Is a directory; give a file name"), std::string::npos);
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(OutputFile, ADiskThatFillsUpLeavesTheOldFile) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "out.json", "old"));
  const FileSizeLimit limit{1000};
  const auto written = write_file(folder / "out.json", std::string(5000, 'x'));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_NE(written.error().message.find("out.json"), std::string::npos);
  EXPECT_EQ(read_file(folder / "out.json"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(OutputFile, AFullDeviceIsAnErrorWithAdvice) {
  const auto written = write_file("/dev/full", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_NE(written.error().message.find("free some space"), std::string::npos);
}

TEST(OutputFile, ADeviceIsWrittenAndStaysADevice) {
  ASSERT_TRUE(write_file("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, ALinkKeepsPointingToTheFileThatIsReplaced) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "real.json", "old"));
  std::filesystem::create_symlink("real.json", folder / "link.json");
  ASSERT_TRUE(write_file(folder / "link.json", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
  EXPECT_EQ(read_file(folder / "real.json"), "new");
}

TEST(OutputPlace, ALinkStaysAndLeadsToTheNewOutputAsForFiles) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "real.db", "old"));
  std::filesystem::create_symlink("real.db", folder / "file");
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink("real", folder / "link");
  auto file = OutputPlace::file(folder / "file");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(write_file(file->path(), "new"));
  ASSERT_TRUE(file->commit());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "file"));
  EXPECT_EQ(read_file(folder / "real.db"), "new");
  auto place = OutputPlace::folder(folder / "link");
  ASSERT_TRUE(place) << place.error().message;
  ASSERT_TRUE(write_file(place->path() / "rank0", "new"));
  ASSERT_TRUE(place->commit());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder.path() / "real" / "rank0"), "new");
}

}  // namespace
}  // namespace rankscope::analyzer
