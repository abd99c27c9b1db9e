// record and train as a user calls them; what the recorder itself does is tested in tests/collectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/run_program.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::run_program;

class RecordingVerbs : public ::testing::Test {
 protected:
  RecordingVerbs() {
    std::string name = (fs::temp_directory_path() / "rankscope-cli-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RecordingVerbs() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string out() const { return (folder_ / "run.rankscope").string(); }

  fs::path folder_;
};

TEST_F(RecordingVerbs, TheCommandsOwnStatusComesBack) {
  EXPECT_EQ(run_program({RANKSCOPE_PROGRAM, "record", "--out", out(), "--", "sh", "-c", "exit 7"}).status, 7);
}

TEST_F(RecordingVerbs, OptionsBehindTheCommandBelongToIt) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "record", "--out", out(), "echo", "--out", "here"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "--out here\n");
}

TEST_F(RecordingVerbs, AnAbsentCommandIs127AndASentence) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "record", "--out", out(), "--", "no-such-program"});
  EXPECT_EQ(result.status, 127);
  EXPECT_THAT(result.err, HasSubstr("no-such-program"));
}

TEST_F(RecordingVerbs, NoCommandIsAWrongCall) {
  EXPECT_EQ(run_program({RANKSCOPE_PROGRAM, "record", "--out", out()}).status, 2);
  EXPECT_EQ(run_program({RANKSCOPE_PROGRAM, "report", "x", "--", "y"}).status, 2);
}

TEST_F(RecordingVerbs, AnExistingRecordingIsNotOverwritten) {
  const std::vector<std::string> words{RANKSCOPE_PROGRAM, "record", "--out", out(), "--", "true"};
  ASSERT_EQ(run_program(words, {"RANK=0", "WORLD_SIZE=1"}).status, 0);
  const auto again = run_program(words);
  EXPECT_EQ(again.status, 5);
  EXPECT_THAT(again.err, HasSubstr(out()));
}

TEST_F(RecordingVerbs, AnUnwritableFolderIsSaidBeforeTheCommandRuns) {
  const auto result =
      run_program({RANKSCOPE_PROGRAM, "record", "--out", "/proc/no/run.rankscope", "--", "echo", "ran"});
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace rankscope
