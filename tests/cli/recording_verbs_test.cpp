// record and train as a user calls them; what the recorder itself does is tested in tests/collectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
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

TEST_F(RecordingVerbs, AMistypedOptionIsNotTakenForTheCommand) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "record", "--ouut", out(), "--", "true"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown option --ouut"));
}

TEST_F(RecordingVerbs, TheHelpOfRecordShowsWhereTheCommandStands) {
  EXPECT_THAT(run_program({RANKSCOPE_PROGRAM, "record", "--help"}).out, HasSubstr("record [OPTIONS] -- COMMAND..."));
}

TEST_F(RecordingVerbs, TheEventsAreGatheredWhenNobodyReadsWhatIsSaid) {
  const std::string line =
      std::string{"'"} + RANKSCOPE_PROGRAM + "' record --out '" + out() + "' -- sleep 0.4 2>&1 | true";
  EXPECT_EQ(run_program({"sh", "-c", line}, {"RANK=0", "WORLD_SIZE=1"}).status, 0);
  EXPECT_TRUE(fs::exists(out() + "/manifest.json"));
  EXPECT_FALSE(fs::is_empty(fs::path{out()} / "segments"));
}

TEST_F(RecordingVerbs, TheCommandIgnoresTheSignalsThatItWouldIgnoreAlone) {
  const std::vector<std::string> look{"grep", "SigIgn", "/proc/self/status"};
  std::vector<std::string> recorded{RANKSCOPE_PROGRAM, "record", "--out", out(), "--"};
  recorded.insert(recorded.end(), look.begin(), look.end());
  EXPECT_EQ(run_program(recorded).out, run_program(look).out);
}

TEST_F(RecordingVerbs, EmptyValuesAreRefused) {
  for (const char* option : {"--out", "--collect", "--recover"}) {
    const auto result = run_program({RANKSCOPE_PROGRAM, "record", option, "", "--", "echo", "ran"});
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(RecordingVerbs, TimesAndRatesOutOfBoundsAreRefused) {
  const std::string seconds = "must be a number from 0 to 1000000000 (is ";
  const std::string rate = "must be 0 or a number from 0.001 to 100 (is ";
  const std::vector<std::array<std::string, 3>> refused{
      {"--duration", "1e10", seconds}, {"--duration", "-1", seconds},  {"--hang-after", "1e10", seconds},
      {"--hang-after", "-1", seconds}, {"--sample-hz", "1e-10", rate}, {"--sample-hz", "-1", rate},
      {"--sample-hz", "100.5", rate}};
  for (const auto& [option, value, why] : refused) {
    const auto result =
        run_program({RANKSCOPE_PROGRAM, "record", option + "=" + value, "--out", out(), "--", "echo", "ran"});
    EXPECT_EQ(result.status, 2) << option << value;
    EXPECT_EQ(result.out, "") << "the command was not started";
    EXPECT_THAT(result.err, HasSubstr(option + " " + why));
  }
}

TEST_F(RecordingVerbs, AHostWithoutGpuIsSaidInOneLineAndIsNoFailure) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/kfd")) GTEST_SKIP() << "this machine has a GPU";
  const auto result =
      run_program({RANKSCOPE_PROGRAM, "record", "--out", out(), "--", "sleep", "0.4"}, {"RANK=0", "WORLD_SIZE=1"});
  EXPECT_EQ(result.status, 0);
  const std::string line = "rankscope: cupti, nccl, nvml: no NVIDIA GPU was found on this host";
  EXPECT_THAT(result.err, HasSubstr(line));
  EXPECT_EQ(result.err.find("GPU"), result.err.rfind("GPU")) << "once: " << result.err;
}

TEST_F(RecordingVerbs, PmSamplingStandsAloneOrHasARate) {
  for (const char* option : {"--pm-sampling=often", "--pm-sampling=0"}) {
    const auto result = run_program({RANKSCOPE_PROGRAM, "record", option, "--out", out(), "--", "echo", "ran"});
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr("--pm-sampling must be a number from 1 to 10000 (is"));
  }
  for (const char* option : {"--pm-sampling", "--pm-sampling=50"}) {
    const auto result =
        run_program({RANKSCOPE_PROGRAM, "record", option, "--quiet", "--out", out(), "--", "echo", "ran"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "ran\n") << "the command is not taken for a rate";
    fs::remove_all(out());
  }
}

TEST_F(RecordingVerbs, ABudgetIsAPercentageOrOff) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "record", "--budget", "1", "--out", out(), "--", "echo", "ran"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--budget must be a percentage"));
  EXPECT_EQ(result.out, "") << "the command was not started";
}

TEST_F(RecordingVerbs, EveryLineOfDoctorThatIsNotGoodSaysWhatToDo) {
  const auto doctor = run_program({RANKSCOPE_PROGRAM, "doctor"}, {"RANKSCOPE_SPOOL=" + folder_.string()});
  EXPECT_EQ(doctor.status, 0) << doctor.err;
  std::istringstream lines{doctor.out};
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  std::size_t notes = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].starts_with("note")) continue;
    EXPECT_THAT(all[i + 1], HasSubstr("-> ")) << all[i];
    ++notes;
  }
  EXPECT_GT(notes, 0U);
  for (const char* const what : {"host clock", "open files", "NVIDIA driver", "GPU devices", "CUPTI bugs",
                                 "other profilers", "NCCL", "PyTorch", "GPU counters"})
    EXPECT_THAT(doctor.out, HasSubstr(what));
}

TEST_F(RecordingVerbs, DetailsThatNothingActsOnAreSaid) {
  const auto result =
      run_program({RANKSCOPE_PROGRAM, "record", "--shapes", "--memory", "--out", out(), "--", "sleep", "0.4"},
                  {"RANK=0", "WORLD_SIZE=1"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("--shapes: no shapes of operator inputs were recorded, because no recorded process "
                                    "supports this option"));
  EXPECT_THAT(result.err, HasSubstr("--memory: no allocations"));
  EXPECT_THAT(result.err, Not(HasSubstr("--stack")));
  const auto report = run_program({RANKSCOPE_PROGRAM, "report", out(), "--full"});
  EXPECT_THAT(report.out, HasSubstr("nothing in the program recorded them"));
  EXPECT_THAT(report.out, HasSubstr("not enabled"));
}

TEST_F(RecordingVerbs, WhatAKilledRecorderLeftIsListedReadAndRecovered) {
  const std::string spool_variable = "RANKSCOPE_SPOOL=" + folder_.string();
  const std::vector<std::string> environment{spool_variable, "RANK=0", "WORLD_SIZE=1"};
  // The recorder is the parent of the shell, which has no events and so no segment.
  const std::string kill_and_stay =
      RANKSCOPE_TEST_PROGRAMS "/annotate_actor everything; kill -KILL $PPID; touch " + (folder_ / "ended").string();
  EXPECT_EQ(
      run_program({RANKSCOPE_PROGRAM, "record", "--out", out(), "--", "sh", "-c", kill_and_stay}, environment).status,
      137);
  const std::string until_it_ends =
      "until test -e " + (folder_ / "ended").string() + "; do sleep 0.05; done; sleep 0.1";
  ASSERT_EQ(run_program({"sh", "-c", until_it_ends}).status, 0);
  const auto doctor = run_program({RANKSCOPE_PROGRAM, "doctor"}, {spool_variable});
  const std::string order = "rankscope record --recover ";
  const auto at = doctor.out.find(order + folder_.string());
  ASSERT_NE(at, std::string::npos) << doctor.out;
  const auto begin = at + order.size();
  const std::string spool = doctor.out.substr(begin, doctor.out.find('\n', begin) - begin);
  const auto dump = run_program({RANKSCOPE_PROGRAM, "dump", spool});
  EXPECT_EQ(dump.status, 0) << dump.err;
  EXPECT_THAT(dump.out, HasSubstr("not_gathered"));
  const auto recovered = run_program({RANKSCOPE_PROGRAM, "record", "--recover", spool});
  EXPECT_EQ(recovered.status, 0) << recovered.err;
  EXPECT_FALSE(fs::exists(spool));
  const auto kept = run_program({RANKSCOPE_PROGRAM, "dump", out()});
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_THAT(kept.out, Not(HasSubstr("not_gathered")));
}

TEST_F(RecordingVerbs, AnExistingRecordingIsNotOverwritten) {
  const std::vector<std::string> words{RANKSCOPE_PROGRAM, "record", "--out", out(), "--", "true"};
  ASSERT_EQ(run_program(words, {"RANK=0", "WORLD_SIZE=1"}).status, 0);
  const auto again = run_program(words);
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr(out()));
}

TEST_F(RecordingVerbs, ATakenNameIsAnErrorAlsoIfTheCommandCouldRunUnrecorded) {
  fs::create_directory(out());
  const auto result = run_program({RANKSCOPE_PROGRAM, "record", "--or-run", "--out", out(), "--", "echo", "ran"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("already exists and is not overwritten; give another name with --out"));
}

TEST_F(RecordingVerbs, ManyThatStartTogetherWithoutANameEachGetTheirOwn) {
  const std::string many = "cd " + folder_.string() +
                           " && for i in 1 2 3 4 5 6; do " RANKSCOPE_PROGRAM
                           " record --quiet -- sh -c 'exit 7' & all=\"$all $!\"; done; "
                           "for one in $all; do wait $one; test $? = 7 || exit 1; done";
  EXPECT_EQ(run_program({"bash", "-c", many}, {"RANK=0", "WORLD_SIZE=1"}).status, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}), 6);
}

TEST_F(RecordingVerbs, ANameOfItsOwnThatIsTakenGetsANumber) {
  fs::create_directory(folder_ / "true-slurm-17.0.rankscope");
  const std::vector<std::string> job{"SLURM_JOB_ID=17", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", "RANK=0"};
  const std::string record = "cd " + folder_.string() + " && " RANKSCOPE_PROGRAM " record --quiet -- true";
  EXPECT_EQ(run_program({"sh", "-c", record}, job).status, 0);
  EXPECT_EQ(run_program({"sh", "-c", record}, job).status, 0) << "a sibling shares it";
  EXPECT_TRUE(fs::exists(folder_ / "true-slurm-17.0-2.rankscope"));
  EXPECT_FALSE(fs::exists(folder_ / "true-slurm-17.0-3.rankscope"));
}

TEST_F(RecordingVerbs, AnUnwritableFolderIsSaidBeforeTheCommandRuns) {
  const auto result =
      run_program({RANKSCOPE_PROGRAM, "record", "--out", "/proc/no/run.rankscope", "--", "echo", "ran"});
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.out, "");
}

TEST_F(RecordingVerbs, ACurrentFolderThatMayNotBeWrittenIsCalledSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const std::string record = "cd " + folder_.string() + " && " RANKSCOPE_PROGRAM " record --out z.rankscope -- true";
  const auto result = run_program({"sh", "-c", record});
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(result.status, 5);
  EXPECT_THAT(result.err, HasSubstr("cannot write z.rankscope: nothing can be created in the current folder: Perm"));
}

/// What a command does under the recorder, if events can only be kept in `spool`.
testing::ProgramResult record_into(const std::string& spool, std::vector<std::string> options) {
  std::vector<std::string> words{RANKSCOPE_PROGRAM, "record"};
  words.insert(words.end(), options.begin(), options.end());
  for (const char* word : {"--", "sh", "-c", "echo ran; exit 7"}) words.emplace_back(word);
  return run_program(words, {"RANKSCOPE_SPOOL=" + spool, "RANK=0"});
}

TEST_F(RecordingVerbs, WithoutAFolderForEventsTheCommandRunsOnlyIfThatIsAskedFor) {
  const auto refused = record_into("/proc/no", {"--out", out()});
  EXPECT_EQ(refused.status, 5);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("set RANKSCOPE_SPOOL"));
  const auto ran = record_into("/proc/no", {"--out", out(), "--or-run"});
  EXPECT_EQ(ran.status, 7);
  EXPECT_EQ(ran.out, "ran\n");
  EXPECT_THAT(ran.err, HasSubstr("sh runs without being recorded: cannot create a folder"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_FALSE(fs::exists(out())) << "no recording that holds nothing";
}

TEST_F(RecordingVerbs, AFullFolderForEventsIsSaidBeforeTheCommandRuns) {
  fs::create_directory(folder_ / "full");
  if (mount("rankscope-test", (folder_ / "full").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  const std::string full = (folder_ / "full").string();
  const auto refused = record_into(full, {"--out", out()});
  const auto ran = record_into(full, {"--out", out(), "--or-run"});
  const bool is_empty = fs::is_empty(full);
  umount2(full.c_str(), MNT_DETACH);
  EXPECT_EQ(refused.status, 5);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("cannot reserve space for recorded events in " + full));
  EXPECT_EQ(ran.status, 7);
  EXPECT_EQ(ran.out, "ran\n");
  EXPECT_TRUE(is_empty) << "no spool stays behind";
}

TEST_F(RecordingVerbs, AnUnrecordedCommandThatIsAbsentIs127) {
  EXPECT_EQ(
      run_program({RANKSCOPE_PROGRAM, "record", "--or-run", "--out", "/proc/no/run", "--", "no-such-program"}).status,
      127);
}

TEST_F(RecordingVerbs, WrongOptionsAreWrongAlsoIfTheCommandCouldRunUnrecorded) {
  EXPECT_EQ(run_program({RANKSCOPE_PROGRAM, "record", "--or-run", "--ring-kib", "1", "--", "true"}).status, 2);
}

}  // namespace
}  // namespace rankscope
