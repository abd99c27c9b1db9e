// Input that a user did not make himself: it is refused in a sentence, and neither waited for nor shown as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/demo.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramResult;
using testing::run_program;
using testing::TemporaryFolder;

/// A program that waits for ever ends with status 124.
ProgramResult run_guarded(std::vector<std::string> words) {
  for (const char* word : {RANKSCOPE_PROGRAM, "60", "timeout"}) words.insert(words.begin(), word);
  return run_program(words);
}

class SpecialFile : public ::testing::Test {
 protected:
  /// Every verb that reads a run, with it.
  [[nodiscard]] std::vector<std::vector<std::string>> calls(const std::string& run) const {
    const std::string out = (folder_ / "out").string();
    return {{"report", run},
            {"dump", run},
            {"export", run, out},
            {"pack", run, out},
            {"compare", run, demo},
            {"compare", demo, run},
            {"gate", run, "--baseline", demo, "--max-regression", "3%"},
            {"whatif", run, "--fix", "rank:0"},
            {"scale", run, demo}};
  }
  void expect_refused(const fs::path& run, const fs::path& culprit) const {
    for (const auto& words : calls(run.string())) {
      const auto result = run_guarded(words);
      EXPECT_EQ(result.status, 3) << words.front() << ": " << result.err;
      EXPECT_THAT(result.err, HasSubstr(culprit.string() + " is a named pipe")) << words.front();
    }
  }
  /// A copy of the sample in which one file is a pipe.
  fs::path recording_with_pipe(const std::string& name) {
    fs::copy(demo, folder_ / "run.rankscope", fs::copy_options::recursive);
    fs::remove(folder_ / "run.rankscope" / name);
    EXPECT_EQ(mkfifo((folder_ / "run.rankscope" / name).c_str(), 0600), 0);
    return folder_ / "run.rankscope";
  }

  TemporaryFolder folder_;
};

TEST_F(SpecialFile, APipeInPlaceOfTheRunIsRefusedByEveryVerb) {
  ASSERT_EQ(mkfifo((folder_ / "run").c_str(), 0600), 0);
  expect_refused(folder_ / "run", folder_ / "run");
}

TEST_F(SpecialFile, APipeAmongSegmentsIsRefusedByEveryVerb) {
  const fs::path run = recording_with_pipe("segments/z.rseg");
  expect_refused(run, run / "segments/z.rseg");
}

TEST_F(SpecialFile, APipeInPlaceOfTheManifestIsRefusedByEveryVerb) {
  const fs::path run = recording_with_pipe("manifest.json");
  expect_refused(run, run / "manifest.json");
}

TEST_F(SpecialFile, ADeviceIsRefused) {
  const auto result = run_guarded({"report", "/dev/zero"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("/dev/zero is a character device"));
}

TEST(HostileName, AnEscapeCodeInAFileNameDoesNotReachTheTerminal) {
  const TemporaryFolder folder;
  const std::string name = (folder / "a\x1b[2J\x07.json").string();
  std::ofstream{name} << "{}";
  for (const auto& words : std::vector<std::vector<std::string>>{{"report", name},
                                                                 {"dump", name + "absent"},
                                                                 {"pack", name},
                                                                 {"export", name, name + ".out"},
                                                                 {"record", "--out", name + "/x", "--", "true"},
                                                                 {"record", "--recover", name},
                                                                 {name}}) {
    const auto result = run_guarded(words);
    EXPECT_NE(result.status, 0) << words.front();
    EXPECT_THAT(result.err + result.out, Not(HasSubstr("\x1b"))) << words.front();
    EXPECT_THAT(result.err + result.out, Not(HasSubstr("\x07"))) << words.front();
    EXPECT_THAT(result.err, HasSubstr("\\x1b[2J")) << words.front();
  }
}

TEST(FullDevice, HelpThatCannotBeWrittenIsAnError) {
  for (const char* option : {"--help", "--version", "report --help"}) {
    const std::string line = std::string{"'"} + RANKSCOPE_PROGRAM + "' " + option + " >/dev/full";
    const auto result = run_program({"sh", "-c", line});
    EXPECT_EQ(result.status, 5) << option;
    EXPECT_THAT(result.err, HasSubstr("cannot write to stdout")) << option;
  }
}

}  // namespace
}  // namespace rankscope
