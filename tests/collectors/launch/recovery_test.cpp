// A recorder is killed before each call that changes a file; what is left is recovered, also by processes that are
// killed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "collectors/kill_sweep.h"
#include "rankscope/core/recording/manifest.h"
#include "spool/folder.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr unsigned quick_kills = 24;

TEST(Recovery, LosesNothingWheneverTheRecorderAndWhatRecoversAreKilled) {
  if (!can_trace) GTEST_SKIP() << "sanitized programs cannot be traced";
  const unsigned calls = calls_of_a_recorder();
  ASSERT_GT(calls, 10U);
  for (unsigned i = 0; i < quick_kills; ++i) {
    const unsigned call = 1 + i * calls / quick_kills;
    SCOPED_TRACE("killed before call " + std::to_string(call) + " of " + std::to_string(calls));
    sweep_once(call, 1 + i % 12);
    if (HasFailure()) return;
  }
}

/// OUT's manifest lists the spool, and the recorder only had to clean up.
class Gathered : public ::testing::Test {
 protected:
  /// Kills recorders at earlier and earlier calls until one has gathered and done nothing more.
  void SetUp() override {
    if (!can_trace) GTEST_SKIP() << "sanitized programs cannot be traced";
    for (unsigned call = calls_of_a_recorder(); call > 1; --call) {
      job_.reset();  // first: it gives back the environment that it found
      job_ = std::make_unique<KilledJob>();
      job_->record_and_kill(call);
      const auto left = job_->left();
      const bool gathered = left.size() == 1 && left.front().kind == LeftKind::gathered;
      if (gathered && !recording::spool_marks_of(job_->out()).empty()) return;
    }
    FAIL() << "no recorder died between gathering and cleaning up";
  }
  std::unique_ptr<KilledJob> job_;
};

TEST_F(Gathered, IsOnlyRemovedAndTheSentenceNamesTheRecording) {
  const auto recovered = recover({.spool = job_->left().front().path, .talk = Talk::quiet});
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(recovered->notes.front(), HasSubstr(job_->out().string()));
  EXPECT_TRUE(job_->left().empty());
  job_->expect_nothing_lost();
}

TEST_F(Gathered, MakesNoSecondRecordingIfAnotherNameIsGiven) {
  const auto recovered = recover({.spool = job_->left().front().path, .out = job_->rescued(), .talk = Talk::quiet});
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_FALSE(fs::exists(job_->rescued()));
  EXPECT_TRUE(job_->left().empty());
}

TEST_F(Gathered, IsReadAsGatheredAlthoughItsMarkIsStillThere) {
  const auto run = recording::read_recording(job_->out());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::not_gathered), 0U);
}

/// A spool as a recorder left it; `segments` are files without content.
class LeftBehind : public ::testing::Test {
 protected:
  LeftBehind() : variable_("RANKSCOPE_SPOOL", base_.path().string()), spool_(*make_spool_folder()) {}

  /// Of a recorder that is gone.
  void write_manifest() {
    recording::Manifest manifest;
    manifest.spooled = recording::Spooled{own_identity(), (folder_ / "run.rankscope").string()};
    manifest.spooled->recorder.start_ticks += 1;
    ASSERT_TRUE(recording::write_manifest(spool_, manifest));
  }
  /// A minute is nothing that a test waits for.
  void make_old() { fs::last_write_time(spool_, fs::file_time_type::clock::now() - std::chrono::hours{1}); }
  [[nodiscard]] std::vector<LeftSpool> left() const {
    auto left = left_spools();
    std::erase_if(left, [this](const LeftSpool& one) { return one.path.parent_path() != spool_.parent_path(); });
    return left;
  }

  Folder folder_;
  Folder base_;
  Variable variable_;
  fs::path spool_;
};

TEST_F(LeftBehind, AnEmptyFolderIsLeftAloneWhileItMayBeInTheMaking) {
  EXPECT_TRUE(left().empty());
  EXPECT_THAT(recover({.spool = spool_, .talk = Talk::quiet}).error().message, HasSubstr("less than a minute old"));
  make_old();
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(left().front().kind, LeftKind::empty);
  EXPECT_TRUE(recover({.spool = spool_, .talk = Talk::quiet}));
  EXPECT_FALSE(fs::exists(spool_));
}

TEST_F(LeftBehind, ASpoolWithoutSegmentsIsRemovedAndMakesNoRecording) {
  write_manifest();
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(left().front().kind, LeftKind::empty);
  const auto recovered = recover({.spool = spool_, .talk = Talk::quiet});
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(recovered->notes.front(), HasSubstr("nothing was recorded in it"));
  EXPECT_FALSE(fs::exists(folder_ / "run.rankscope"));
  EXPECT_TRUE(left().empty());
}

TEST_F(LeftBehind, ARestThatWasBeingRemovedIsListedAndTaken) {
  write_manifest();
  fs::rename(spool_, spool_.string() + done_suffix);
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(left().front().kind, LeftKind::gathered);
  EXPECT_TRUE(recover({.spool = spool_, .talk = Talk::quiet})) << "by the name under which it was listed before";
  EXPECT_TRUE(left().empty());
}

TEST_F(LeftBehind, AFileThatCannotBeReadIsKeptInTheRecordingAndTheSpoolIsRemoved) {
  write_manifest();
  std::ofstream{spool_ / "host-1-2.rseg"} << "RSSEGMT\nand nothing more";
  std::ofstream{spool_ / "host-3-4.rseg"} << std::string(5000, '\0');
  const auto recovered = recover({.spool = spool_, .talk = Talk::quiet});
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(recovered->unreadable, 2U);
  const fs::path kept = folder_ / "run.rankscope" / "unreadable";
  EXPECT_TRUE(fs::exists(kept / "host-1-2.rseg"));
  EXPECT_FALSE(fs::exists(kept / "host-3-4.rseg")) << "its process died before it recorded anything";
  EXPECT_TRUE(left().empty());
}

TEST_F(LeftBehind, ALossIsCountedOnceAlsoIfTheSpoolIsGatheredTwice) {
  write_manifest();
  std::ofstream{spool_ / "host-1-2.rseg"} << "RSSEGMT\nand nothing more";
  const fs::path copy = folder_ / "copy";
  fs::copy(spool_, copy, fs::copy_options::recursive);
  ASSERT_TRUE(recover({.spool = spool_, .talk = Talk::quiet}));
  fs::copy(copy, spool_, fs::copy_options::recursive);  // as if the recorder had died before it removed the spool
  const auto again = recover({.spool = spool_, .talk = Talk::quiet});
  ASSERT_TRUE(again) << again.error().message;
  const auto manifest = recording::read_manifest(folder_ / "run.rankscope");
  ASSERT_TRUE(manifest);
  ASSERT_EQ(manifest->losses.size(), 1U);
  EXPECT_EQ(manifest->losses.front().second, 1U);
}

TEST_F(LeftBehind, ASpoolThatAnotherProcessRecoversIsLeftToIt) {
  write_manifest();
  const int other = open(spool_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_THAT(recover({.spool = spool_, .talk = Talk::quiet}).error().message, HasSubstr("by another process"));
  close(other);
}

TEST_F(LeftBehind, ARecordingIsNeverTakenForASpool) {
  const fs::path recording = folder_ / "damaged.rankscope";
  fs::create_directories(recording / recording::segment_folder);
  std::ofstream{recording / recording::segment_folder / "a.rseg"} << "x";
  std::ofstream{recording / recording::manifest_name} << "{";
  EXPECT_FALSE(recover({.spool = recording, .out = folder_ / "other.rankscope", .talk = Talk::quiet}));
  EXPECT_TRUE(fs::exists(recording / recording::segment_folder / "a.rseg"));
}

}  // namespace
}  // namespace rankscope::collectors
