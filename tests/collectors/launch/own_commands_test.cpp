// Commands that the recorder runs beside the job.
#include "launch/own_commands.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "launch/watcher.h"
#include "rankscope/core/recording/manifest.h"
#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

TEST(OnHang, TheCommandIsNoRankAndReadsNothing) {
  const rankscope::testing::TemporaryFolder folder;
  const std::string file = (folder / "seen").string();
  setenv("RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("MY_RANK", "3", 1);
  setenv("KEPT", "yes", 1);
  OwnCommands commands;
  const bool started = commands.start(
      R"(cat > "$1.part"; echo "<$RANK$OMPI_COMM_WORLD_RANK$MY_RANK$KEPT>" >> "$1.part"; mv "$1.part" "$1")", {file},
      "MY_RANK");
  for (const char* const name : {"RANK", "OMPI_COMM_WORLD_RANK", "MY_RANK", "KEPT"}) unsetenv(name);
  ASSERT_TRUE(started);
  for (int i = 0; i < 500 && !std::filesystem::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  std::string seen;
  std::getline(std::ifstream{file}, seen);
  EXPECT_EQ(seen, "<yes>");
}

/// Writes its pid and that of a child into two files, and waits.
constexpr const char* family =
    R"(echo $$ > "$1/shell"; sleep 60 & echo $! > "$1/child.part"; mv "$1/child.part" "$1/child"; wait)";

/// The shell of `family`, and its child.
std::array<pid_t, 2> family_in(const rankscope::testing::TemporaryFolder& folder) {
  for (int i = 0; i < 500 && !std::filesystem::exists(folder / "child"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  std::array<pid_t, 2> pids{};
  std::ifstream{folder / "shell"} >> pids[0];
  std::ifstream{folder / "child"} >> pids[1];
  return pids;
}

TEST(OnHang, TheCommandAndWhatItStartsAreNotOfTheJob) {
  const rankscope::testing::TemporaryFolder folder;
  const rankscope::testing::TemporaryFolder spool;
  OwnCommands commands;
  EXPECT_FALSE(commands.has(getpid()));
  ASSERT_TRUE(commands.start(family, {folder.path().string()}, {}));
  const auto [shell, child] = family_in(folder);
  ASSERT_GT(child, 0);
  EXPECT_TRUE(commands.has(shell));
  EXPECT_TRUE(commands.has(child));
  EXPECT_FALSE(commands.has(getpid()));
  Watcher watcher{spool.path(), getpid(), {}, [&commands](pid_t process) { return commands.has(process); }};
  for (int i = 0; i < 26; ++i) {  // what runs for a second gets a segment
    watcher.sample();
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  watcher.finish(0);
  EXPECT_TRUE(std::filesystem::is_empty(spool.path() / recording::outside_folder));
  kill(-shell, SIGKILL);  // its session has one process group
}

}  // namespace
}  // namespace rankscope::collectors
