// What writes files is killed before each call that changes one: nothing hidden stays behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/demo.h"
#include "support/killed_at.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using testing::can_trace;
using testing::Fate;
using testing::kill_at;
using testing::run_program;
using testing::TemporaryFolder;

/// Killed before its n-th call that changes a file.
Fate run_and_kill(std::vector<std::string> words, unsigned nth) {
  words.insert(words.begin(), RANKSCOPE_PROGRAM);
  return kill_at(nth, [&words] {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
  });
}

std::vector<std::string> hidden_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().filename().string().starts_with('.')) names.push_back(entry.path().filename());
  return names;
}

/// Kills the verb at up to `most` places, evenly between its first and last call.
void expect_no_hidden_files(const std::vector<std::string>& words, unsigned most) {
  if (!can_trace) GTEST_SKIP() << "sanitized programs cannot be traced";
  const TemporaryFolder all;
  auto to = [&words](const fs::path& folder) {
    auto with_out = words;
    with_out.push_back((folder / "out").string());
    return with_out;
  };
  const unsigned calls = run_and_kill(to(all.path()), ~0U).calls;
  ASSERT_TRUE(fs::exists(all / "out"));
  for (unsigned call = 1; call <= calls; call += 1 + calls / most) {
    const TemporaryFolder folder;
    run_and_kill(to(folder.path()), call);
    EXPECT_TRUE(hidden_in(folder.path()).empty()) << "killed before call " << call << " of " << calls;
  }
}

TEST(KilledOutput, APackLeavesNoHiddenFiles) { expect_no_hidden_files({"pack", demo}, 20); }

TEST(KilledOutput, AnExportToOneFileLeavesNoHiddenFiles) {
  expect_no_hidden_files({"export", demo, "--to", "chrome"}, 10);
}

TEST(KilledOutput, WhatAKilledExportOfAFolderLeftTheNextOneRemoves) {
  if (!can_trace) GTEST_SKIP() << "sanitized programs cannot be traced";
  const TemporaryFolder folder;
  const std::vector<std::string> words{"export", demo, "--to", "kineto", (folder / "out").string()};
  constexpr unsigned in_the_middle = 5;
  ASSERT_TRUE(run_and_kill(words, in_the_middle).killed);
  ASSERT_EQ(hidden_in(folder.path()).size(), 1U);
  // Not at once: it could belong to another export that is just starting.
  fs::last_write_time(folder / hidden_in(folder.path()).front(),
                      fs::file_time_type::clock::now() - std::chrono::hours{1});
  auto again = words;
  again.insert(again.begin(), RANKSCOPE_PROGRAM);
  ASSERT_EQ(run_program(again).status, 0);
  EXPECT_EQ(folder.file_count(), 1U);
}

}  // namespace
}  // namespace rankscope
