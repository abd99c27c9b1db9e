// Jobs under a scripted rankscope, and under the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <filesystem>
#include <fstream>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/gui/models/record/record_run.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;
using std::chrono_literals::operator""ms;

QString qt_path(const fs::path& path) { return QString::fromStdString(path.string()); }

class Recorded : public ::testing::Test {
 protected:
  /// A rankscope that is this script; $OUT is where to record.
  [[nodiscard]] RecordJob scripted(const std::string& script) const {
    const fs::path program = folder_ / "rankscope";
    std::ofstream{program} << "#!/bin/sh\nOUT=" << out().string() << "\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    return {qt_path(program), {}, qt_path(folder_.path()), qt_path(out())};
  }
  /// The real one, with this script as its command.
  [[nodiscard]] RecordJob real(const std::string& script) const {
    const QStringList words{QStringLiteral("record"),      QStringLiteral("--out"),   qt_path(out()),
                            QStringLiteral("--"),          QStringLiteral("/bin/sh"), QStringLiteral("-c"),
                            QString::fromStdString(script)};
    return {QStringLiteral(RANKSCOPE_PROGRAM), words, qt_path(folder_.path()), qt_path(out())};
  }
  [[nodiscard]] fs::path out() const { return folder_ / "run.rankscope"; }
  [[nodiscard]] static std::string log_of(const RecordRun& run) {
    std::string all;
    for (const QString& line : run.log().lines()) all += line.toStdString() + "\n";
    return all + run.log().open_line().toStdString();
  }
  [[nodiscard]] static bool ends(const RecordRun& run) {
    return testing::comes_true([&run] { return run.stage() == RunStage::ended; });
  }
  [[nodiscard]] static bool says(const RecordRun& run, const char* what) {
    return testing::comes_true([&] { return log_of(run).find(what) != std::string::npos; });
  }

  TemporaryFolder folder_;
};

const std::string makes_recording =
    R"(mkdir -p $OUT/segments; echo '{"schema":"rankscope.recording"}' > $OUT/manifest.json)";

TEST_F(Recorded, AGoodEndHasALogAndARecording) {
  RecordRun run;
  const QSignalSpy ended{&run, &RecordRun::ended};
  EXPECT_EQ(run.stage(), RunStage::idle);
  ASSERT_TRUE(run.start(scripted("echo out; echo err >&2; pwd; read line && echo read; " + makes_recording)));
  EXPECT_TRUE(run.is_running());
  ASSERT_TRUE(ends(run));
  EXPECT_EQ(ended.count(), 1);
  EXPECT_TRUE(run.ended_well());
  EXPECT_TRUE(run.has_recording());
  EXPECT_EQ(run.sentence().toStdString(), "The command ended successfully.");
  EXPECT_EQ(log_of(run), "out\nerr\n" + folder_.path().string() + "\n") << "there is nothing to read";
  const auto lasted = run.elapsed();
  EXPECT_GT(lasted, 0ms);
  EXPECT_EQ(run.elapsed(), lasted);
}

TEST_F(Recorded, ABadEndIsASentence) {
  const auto sentence = [this](const std::string& script) {
    RecordRun run;
    EXPECT_TRUE(run.start(scripted(script)));
    EXPECT_TRUE(ends(run));
    EXPECT_FALSE(run.ended_well());
    return run.sentence().toStdString();
  };
  EXPECT_EQ(sentence("exit 3"), "The command ended with status 3. Nothing was recorded.");
  EXPECT_EQ(sentence("exit 0"), "The command ended successfully. Nothing was recorded.");
  EXPECT_EQ(sentence(makes_recording + "; exit 139"), "The command was ended by SIGSEGV.");
  EXPECT_EQ(sentence("exit 125"), "The command ended, but its recording is incomplete; the log says why.");
  EXPECT_EQ(sentence("kill -9 $$"),
            "rankscope itself was ended by SIGKILL; `rankscope doctor` shows how to recover the recording.");
}

TEST_F(Recorded, AProgramThatCannotBeStartedIsSaid) {
  RecordRun run;
  RecordJob job = scripted("");
  job.program = qt_path(folder_ / "absent");
  ASSERT_TRUE(run.start(job));
  ASSERT_TRUE(ends(run));
  EXPECT_THAT(run.sentence().toStdString(), HasSubstr("absent cannot be started"));
  EXPECT_FALSE(run.has_recording());
}

TEST_F(Recorded, ThePreviousRecordingIsKeptUntilThereIsANewOne) {
  RecordRun run;
  ASSERT_TRUE(run.start(scripted(makes_recording + "; touch $OUT/segments/old.rseg")));
  ASSERT_TRUE(ends(run));
  ASSERT_TRUE(run.start(scripted("exit 2")));
  ASSERT_TRUE(ends(run));
  EXPECT_TRUE(fs::exists(out() / "segments" / "old.rseg"));
  ASSERT_TRUE(run.start(scripted(makes_recording)));
  ASSERT_TRUE(ends(run));
  EXPECT_FALSE(fs::exists(out() / "segments" / "old.rseg"));
  EXPECT_EQ(folder_.file_count(), 2U) << "the recording and the script";
}

TEST_F(Recorded, WhatIsNoRecordingIsNotReplaced) {
  fs::create_directories(out());
  std::ofstream{out() / "mine"} << "x";
  RecordRun run;
  const auto started = run.start(scripted("true"));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("contains more than a recording"));
  EXPECT_EQ(run.stage(), RunStage::idle);
}

TEST_F(Recorded, AShortProgramIsReallyRecorded) {
  RecordRun run;
  ASSERT_TRUE(run.start(real("echo begun; sleep 0.1; echo done")));
  ASSERT_TRUE(ends(run));
  EXPECT_TRUE(run.ended_well()) << log_of(run);
  EXPECT_THAT(log_of(run), HasSubstr("begun\ndone\n"));
  EXPECT_THAT(log_of(run), HasSubstr("rankscope: recorded"));
}

const std::string until_asked = "while :; do sleep 0.02; done";

TEST_F(Recorded, StopAsksLikeControlCAndKeepsWhatWasRecorded) {
  RecordRun run;
  ASSERT_TRUE(run.start(real("trap 'echo asked; exit 5' INT; echo ready; " + until_asked)));
  ASSERT_TRUE(says(run, "ready"));
  run.stop();
  EXPECT_EQ(run.stage(), RunStage::stopping);
  ASSERT_TRUE(ends(run));
  EXPECT_EQ(run.sentence().toStdString(), "Stopped. The command ended with status 5.");
  EXPECT_FALSE(run.ended_well());
  EXPECT_TRUE(run.has_recording());
}

TEST_F(Recorded, EachProcessOfTheJobIsAskedOnce) {
  RecordRun run;
  // The inner shell is no child of the recorder: only its group tells that it is of the job.
  ASSERT_TRUE(
      run.start(real("trap 'echo outer' INT; sh -c 'trap \"echo inner; left=1\" INT; echo ready; "
                     "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.02; done; exit 4'; exit $?")));
  ASSERT_TRUE(says(run, "ready"));
  run.stop();
  ASSERT_TRUE(ends(run));
  const std::string log = log_of(run);
  for (const std::string who : {"outer\n", "inner\n"}) {
    EXPECT_NE(log.find(who), std::string::npos) << log;
    EXPECT_EQ(log.find(who), log.rfind(who)) << who << " was asked twice";
  }
}

TEST_F(Recorded, WhoDoesNotListenIsAskedBySigterm) {
  RecordRun run{200ms};
  ASSERT_TRUE(run.start(real("trap 'echo no' INT; trap 'echo yes; exit 6' TERM; echo ready; " + until_asked)));
  ASSERT_TRUE(says(run, "ready"));
  run.stop();
  ASSERT_TRUE(ends(run));
  EXPECT_THAT(log_of(run), HasSubstr("no\n"));
  EXPECT_THAT(log_of(run), HasSubstr("yes\n"));
  EXPECT_EQ(run.sentence().toStdString(), "Stopped. The command ended with status 6.");
}

TEST_F(Recorded, WhoNeverListensIsKilledAndItsRecordingKept) {
  RecordRun run;
  ASSERT_TRUE(run.start(real("trap '' INT TERM; echo ready; " + until_asked)));
  ASSERT_TRUE(says(run, "ready"));
  run.stop();
  run.kill_all();
  ASSERT_TRUE(ends(run));
  EXPECT_EQ(run.sentence().toStdString(), "Stopped. The command was ended by SIGKILL.");
  EXPECT_TRUE(run.has_recording());
  EXPECT_TRUE(recording::spool_marks_of(out()).empty()) << "it was gathered";
}

TEST_F(Recorded, AJobEndsWithItsOwner) {
  {
    RecordRun run;
    ASSERT_TRUE(run.start(real("trap 'exit 1' INT; echo ready; " + until_asked)));
    ASSERT_TRUE(says(run, "ready"));
  }
  EXPECT_TRUE(recording::looks_like_recording(out()));
  EXPECT_TRUE(recording::spool_marks_of(out()).empty());
}

}  // namespace
}  // namespace rankscope::gui
