// A recorder that is killed: what its processes recorded stays, is found, read and gathered.
#include "spool/folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "rankscope/collectors/spools.h"
#include "rankscope/core/recording/manifest.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Runs record_driver around a command that kills it and then lives on; returns when that has ended, too.
void kill_recorder_of(const std::string& rest, const fs::path& out) {
  std::array<int, 2> alive{};  // the command has the other end
  ASSERT_EQ(pipe(alive.data()), 0);
  const std::string driver = program("record_driver");
  const std::string line = "kill -KILL $PPID; exec " + rest;
  prepare_sanitizer();
  const pid_t child = fork();
  if (child == 0) {
    close(alive[0]);
    execl(driver.c_str(), "record_driver", RANKSCOPE_TEST_LIBRARY, out.c_str(), "/bin/sh", "-c", line.c_str(), nullptr);
    _exit(99);
  }
  close(alive[1]);
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFSIGNALED(state));
  char letter = 0;
  EXPECT_EQ(read(alive[0], &letter, 1), 0);
  close(alive[0]);
}

class KilledRecorder : public ::testing::Test {
 protected:
  KilledRecorder() : spool_base_("RANKSCOPE_SPOOL", base_.path().string()) {
    kill_recorder_of(program("annotate_actor") + " everything", out_);
    const auto left = left_spools();
    for (const LeftSpool& one : left)
      if (one.path.parent_path() == fs::canonical(base_.path())) spool_ = one.path;
  }
  [[nodiscard]] RecoverOptions quietly(const fs::path& out = {}) const {
    return {.spool = spool_, .out = out, .talk = Talk::quiet};
  }

  Folder folder_;
  Folder base_;
  fs::path out_ = folder_ / "run.rankscope";
  Variable spool_base_;
  fs::path spool_;
};

TEST_F(KilledRecorder, LeavesASpoolThatTellsWhatItHolds) {
  ASSERT_FALSE(spool_.empty());
  const auto manifest = recording::read_manifest(spool_);
  ASSERT_TRUE(manifest);
  ASSERT_TRUE(manifest->spooled);
  EXPECT_EQ(manifest->spooled->out, out_.string());
  EXPECT_THAT(manifest->command.back(), HasSubstr("annotate_actor"));
  const auto run = recording::read_recording(spool_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(spans_named(**run, "step"), 2U);
  EXPECT_EQ((*run)->quality().of(Counter::not_gathered), 1U);
}

TEST_F(KilledRecorder, ItsRecordingSaysWhereTheSegmentsAre) {
  const auto run = recording::read_recording(out_);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("rankscope record --recover " + spool_.string()));
}

TEST_F(KilledRecorder, CanBeRecoveredToWhereItBelongs) {
  const auto summary = recover(quietly());
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->out, out_);
  EXPECT_FALSE(fs::exists(spool_));
  const auto run = recording::read_recording(out_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(spans_named(**run, "step"), 2U);
  EXPECT_EQ((*run)->quality().of(Counter::not_gathered), 0U);
  const auto manifest = recording::read_manifest(out_);
  ASSERT_TRUE(manifest);
  EXPECT_FALSE(manifest->spooled);
  EXPECT_THAT(manifest->hosts, SizeIs(1));
  EXPECT_EQ(manifest->exit_status, -1) << "nobody saw how the command ended";
}

TEST_F(KilledRecorder, CanBeRecoveredToAnotherName) {
  const fs::path other = folder_ / "other.rankscope";
  const auto summary = recover(quietly(other));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(recording::read_recording(other));
}

TEST_F(KilledRecorder, IsNotRecoveredOverAnExistingRecording) {
  const fs::path other = folder_ / "other.rankscope";
  fs::create_directory(other);
  const auto summary = recover(quietly(other));
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("already exists"));
  EXPECT_TRUE(fs::exists(spool_));
}

/// Kills a recorder whose command records nothing and reads from `input` until its other end is closed.
void kill_recorder_of_a_reader(int input, const fs::path& out) {
  const std::string driver = program("record_driver");
  prepare_sanitizer();
  const pid_t child = fork();
  if (child == 0) {
    dup2(input, STDIN_FILENO);
    execl(driver.c_str(), "record_driver", RANKSCOPE_TEST_LIBRARY, out.c_str(), "/bin/sh", "-c",
          "kill -KILL $PPID; read line; exit 0", nullptr);
    _exit(99);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFSIGNALED(state));
}

TEST(Spool, ThatIsEmptyIsNotRemovedWhileItsCommandMayStillRecordIntoIt) {
  const Folder base;
  const Folder folder;
  const Variable variable{"RANKSCOPE_SPOOL", base.path().string()};
  std::array<int, 2> input{};
  ASSERT_EQ(pipe2(input.data(), O_CLOEXEC), 0);
  kill_recorder_of_a_reader(input[0], folder / "run.rankscope");
  const auto one = [&base] {
    auto left = left_spools();
    std::erase_if(left, [&](const LeftSpool& any) { return any.path.parent_path() != fs::canonical(base.path()); });
    return left;
  };
  const auto left = one();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left.front().kind, LeftKind::empty);
  EXPECT_EQ(left.front().written, 1U);
  const auto refused = recover({.spool = left.front().path, .talk = Talk::quiet});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("1 process may still record into"));
  EXPECT_TRUE(fs::exists(left.front().path));
  close(input[1]);
  close(input[0]);
  while (one().front().written > 0) usleep(1000);
  EXPECT_TRUE(recover({.spool = left.front().path, .talk = Talk::quiet}));
  EXPECT_FALSE(fs::exists(left.front().path));
}

TEST(Spool, OfARunningRecorderIsLeftAlone) {
  const Folder base;
  const Folder folder;
  const Variable variable{"RANKSCOPE_SPOOL", base.path().string()};
  const auto spool = make_spool_folder();
  ASSERT_TRUE(spool);
  ASSERT_TRUE(tie(*spool, {}, folder.path()));
  for (const LeftSpool& left : left_spools()) EXPECT_NE(left.path, *spool);
  const auto summary = recover({.spool = *spool, .talk = Talk::quiet});
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("is still running"));
}

TEST(Spool, OfAnotherUserIsNeitherListedNorRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a folder of another user";
  const Folder base;
  const Variable variable{"RANKSCOPE_SPOOL", base.path().string()};
  const auto spool = make_spool_folder();
  ASSERT_TRUE(spool);
  ASSERT_EQ(chown(spool->c_str(), 1, 1), 0);
  for (const LeftSpool& left : left_spools()) EXPECT_NE(left.path, *spool);
  EXPECT_THAT(recover({.spool = *spool, .talk = Talk::quiet}).error().message, HasSubstr("another user (uid 1)"));
}

TEST(Spool, NothingElseCanBeRecovered) {
  const Folder folder;
  EXPECT_EQ(recover({.spool = folder / "absent", .talk = Talk::quiet}).error().kind, ErrorKind::unreadable);
  EXPECT_EQ(recover({.spool = folder.path(), .talk = Talk::quiet}).error().kind, ErrorKind::unreadable);
}

}  // namespace
}  // namespace rankscope::collectors
