// The launcher behind `rankscope record`.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "rankscope/core/recording/manifest.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> shell(const std::string& line) { return {"/bin/sh", "-c", line}; }

RecordOptions options_for(const fs::path& out, std::vector<std::string> command) {
  prepare_sanitizer();
  RecordOptions options{.command = std::move(command), .out = out};
  options.library = RANKSCOPE_TEST_LIBRARY;
  options.talk = Talk::quiet;
  return options;
}

TEST(Launcher, ReturnsTheStatusOfTheCommand) {
  const Folder folder;
  EXPECT_EQ(record(folder, shell("exit 0")).status, 0);
  EXPECT_EQ(record(folder, {.command = shell("exit 42"), .out = folder / "b.rankscope"}).status, 42);
  EXPECT_EQ(record(folder, {.command = shell("kill -TERM $$"), .out = folder / "c.rankscope"}).status, 143);
}

TEST(Launcher, ACommandThatDoesNotExistIs127AndLeavesNothing) {
  const Folder folder;
  EXPECT_EQ(record(folder, {"no-such-command-here"}).status, 127);
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(Launcher, ACommandThatRefusesItsOptionsLeavesNothing) {
  const Folder folder;
  for (const int refusal : {2, 3}) {
    RecordOptions options = options_for(folder / "run.rankscope", shell("exit 2"));
    options.refusal_status = refusal;
    const auto outcome = run_recorded(options);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 2);
    EXPECT_EQ(fs::exists(folder / "run.rankscope"), refusal != 2);
  }
}

TEST(Launcher, RanksThatRefuseTheirOptionsBeforeAStepLeaveNothing) {
  const Folder folder;
  const Variable rank{"RANK", "0"};
  const Variable world{"WORLD_SIZE", "1"};
  for (const std::string scene : {"details", "everything"}) {
    const bool makes_steps = scene == "everything";
    const fs::path out = folder / (scene + ".rankscope");
    RecordOptions options = options_for(out, shell(program("annotate_actor") + " " + scene + "; exit 2"));
    options.refusal_status = 2;
    const auto outcome = run_recorded(options);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->status, 2);
    EXPECT_EQ(outcome->summary.ranks, makes_steps ? 1U : 0U);
    EXPECT_EQ(fs::exists(out), makes_steps) << scene;
  }
}

TEST(Launcher, AFileThatIsNoProgramIs126) {
  const Folder folder;
  std::ofstream{folder / "text"} << "no program";
  EXPECT_EQ(record(folder, {(folder / "text").string()}).status, 126);
}

TEST(Launcher, AnExistingRecordingIsNotTouchedAndTheCommandNotStarted) {
  const Folder folder;
  const fs::path out = folder / "run.rankscope";
  fs::create_directory(out);
  std::ofstream{out / "precious"} << "data";
  const auto outcome = run_recorded(options_for(out, shell("touch " + (folder / "started").string())));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::usage);
  EXPECT_THAT(outcome.error().message,
              HasSubstr("already exists and is not overwritten; give another name with --out"));
  EXPECT_FALSE(fs::exists(folder / "started"));
  EXPECT_TRUE(fs::exists(out / "precious"));
}

TEST(Launcher, AMissingParentIsSaidBeforeTheCommandIsStarted) {
  const Folder folder;
  const auto outcome =
      run_recorded(options_for(folder / "none" / "run.rankscope", shell("touch " + (folder / "started").string())));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::cannot_write);
  EXPECT_THAT(outcome.error().message, HasSubstr("does not exist"));
  EXPECT_FALSE(fs::exists(folder / "started"));
}

TEST(Launcher, WrongOptionsAreUsageErrors) {
  const Folder folder;
  const fs::path out = folder / "run.rankscope";
  const auto kind_of = [&](const std::function<void(RecordOptions&)>& change) {
    RecordOptions options = options_for(out, shell("true"));
    change(options);
    const auto outcome = run_recorded(options);
    return outcome ? std::string{"done"} : std::to_string(exit_status(outcome.error().kind));
  };
  EXPECT_EQ(kind_of([](RecordOptions& options) { options.command.clear(); }), "2");
  EXPECT_EQ(kind_of([](RecordOptions& options) { options.collect = "kernels"; }), "2");
  EXPECT_EQ(kind_of([](RecordOptions& options) { options.window = "1,2"; }), "2");
  EXPECT_EQ(kind_of([](RecordOptions& options) { options.sample_hz = 1000; }), "2");
  EXPECT_EQ(kind_of([](RecordOptions& options) { options.ring_kib = 1; }), "2");
  EXPECT_EQ(kind_of([](RecordOptions& options) { options.duration_s = -1; }), "2");
  EXPECT_FALSE(fs::exists(out));
}

TEST(Launcher, TheRecorderMayLieInAFolderWithBlanks) {
  const Folder folder;
  RecordOptions options{.command = {program("annotate_actor"), "everything"}};
  options.library = folder / "a folder: mine" / inject_library_name;
  fs::create_directory(options.library.parent_path());
  fs::copy(RANKSCOPE_TEST_LIBRARY, options.library);
  const Recorded recorded = record(folder, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "step"), 2U);
}

TEST(Launcher, WhereEvenTheSpoolHasBlanksTheCommandIsNotStarted) {
  const Folder folder;
  const Variable spool{"RANKSCOPE_SPOOL", (folder / "my spool").string()};
  fs::create_directory(folder / "my spool");
  RecordOptions options = options_for(folder / "run.rankscope", shell("touch " + (folder / "started").string()));
  options.library = folder / "my spool" / inject_library_name;
  fs::copy(RANKSCOPE_TEST_LIBRARY, options.library);
  const auto outcome = run_recorded(options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, AllOf(HasSubstr("both contain a space or a colon"),
                                             HasSubstr("set RANKSCOPE_SPOOL to a folder whose path contains neither")));
  EXPECT_FALSE(fs::exists(folder / "started"));
}

TEST(Launcher, TheManifestTellsTheCommandWithoutSecrets) {
  const Folder folder;
  const Variable secret{"MY_PASSWORD", "hunter2"};
  RecordOptions options{.command = {program("annotate_actor"), "everything", "--token", "abc123"}};
  options.metadata = {{"note", "test"}};
  const Recorded recorded = record(folder, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto manifest = recording::read_manifest(recorded.summary.out);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->exit_status, 0);
  EXPECT_EQ(manifest->hosts.size(), 1U);
  EXPECT_THAT(manifest->command, ElementsAre(program("annotate_actor"), "everything", "--token", "***"));
  for (const auto& entry : fs::recursive_directory_iterator{recorded.summary.out}) {
    if (!entry.is_regular_file()) continue;
    const std::string bytes = rankscope::testing::read_file(entry.path());
    EXPECT_EQ(bytes.find("hunter2"), bytes.npos) << entry.path();
    EXPECT_EQ(bytes.find("abc123"), bytes.npos) << entry.path();
  }
}

TEST(Launcher, LeavesNothingButTheRecording) {
  const Folder folder;
  ASSERT_TRUE(record(folder, {program("annotate_actor")}).run);
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(Launcher, TheOnlyProcessIsARankEvenIfNobodySaysWhich) {
  const Folder folder;
  const Recorded recorded = record(folder, {program("annotate_actor")});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.summary.processes, 1U);
  EXPECT_EQ(recorded.summary.ranks, 1U);
  EXPECT_EQ(recorded.run->ranks().size(), 1U);
  EXPECT_EQ(lost(*recorded.run, Counter::rank_unknown), 0U);
}

TEST(Launcher, AProcessWithARankIsRecordedWithoutEvents) {
  const Folder folder;
  const Variable rank{"RANK", "3"};
  const Variable world{"WORLD_SIZE", "4"};
  const Recorded recorded = record(folder, {.command = {"/bin/sleep", "0.7"}, .sample_hz = 50});
  ASSERT_TRUE(recorded.run) << recorded.why;
  ASSERT_EQ(recorded.run->ranks().size(), 1U);
  EXPECT_EQ(recorded.run->ranks()[0], RankId{3});
  EXPECT_EQ(recorded.run->info().world_size, 4);
  EXPECT_FALSE(recorded.run->samples().empty());
  EXPECT_EQ(recorded.summary.ranks, 1U);
}

TEST(Launcher, AShortProcessWithoutRankAndEventsLeavesNothing) {
  const Folder folder;
  const Recorded recorded = record(folder, {"/bin/true"});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.summary.processes, 0U);
  EXPECT_THAT(recorded.summary.notes, ElementsAre(HasSubstr("no process ran for at least 1 s")));
}

TEST(Launcher, AProcessWhoseSegmentCannotBeReadIsNotSaidToHaveDoneNothing) {
  const Folder folder;
  const Recorded recorded = record(folder, shell("echo RSSEGMT >$RANKSCOPE_SEGMENTS/host-1-2.rseg"));
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.summary.processes, 0U);
  EXPECT_EQ(recorded.summary.unreadable, 1U);
  EXPECT_THAT(recorded.summary.notes,
              ElementsAre(HasSubstr("the process that wrote this segment is missing from the recording")));
}

TEST(Launcher, AHostWithoutGpuIsSaidOnceAndTheRestIsRecorded) {
  const Folder folder;
  RecordOptions options{.command = {program("annotate_actor")}};
  options.host_root = folder.path();  // without a /dev
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(
      recorded.summary.notes,
      ElementsAre("cupti, nccl, nvml: no NVIDIA GPU was found on this host (no /dev/nvidiactl); other sources are "
                  "not affected"));
}

TEST(Launcher, VictimsOfTheOutOfMemoryKillerAreCountedWhileTheCommandRuns) {
  const Folder folder;
  fs::create_directory(folder / "proc");
  std::ofstream{folder / "proc" / "vmstat"} << "oom_kill 3\n";
  RecordOptions options{
      .command = shell("echo oom_kill 4 >" + (folder / "proc" / "vmstat").string() + "; sleep 1; kill -9 $$")};
  options.host_root = folder.path();
  const Variable rank{"RANK", "0"};
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 137);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->metadata("oom_kills.rank0"), "host 1");
  EXPECT_THAT(
      recorded.summary.notes,
      ::testing::Contains(HasSubstr("meanwhile, the kernel's out-of-memory killer ended processes on this host")));
}

TEST(Launcher, WhatIsNotAskedForAndWhatIsNotUsedIsNotMissed) {
  const Folder folder;
  RecordOptions options{.command = {program("annotate_actor")}, .out = folder / "a.rankscope"};
  options.host_root = folder.path();
  options.gpus = Gpus::not_used;
  EXPECT_THAT(record(folder, options).summary.notes, ::testing::IsEmpty());
  options.gpus = Gpus::may_be_used;
  options.out = folder / "b.rankscope";
  options.collect = "annotate,nvtx,host";
  EXPECT_THAT(record(folder, options).summary.notes, ::testing::IsEmpty());
}

TEST(Launcher, AProgramThatLeavesTheGpuAloneIsSaidToHaveDoneSo) {
  const Folder folder;
  fs::create_directory(folder / "dev");
  std::ofstream{folder / "dev" / "nvidiactl"} << "";
  RecordOptions options{.command = {program("annotate_actor")}};
  options.host_root = folder.path();
  EXPECT_THAT(record(folder, options).summary.notes,
              ElementsAre(HasSubstr("cupti, nccl, nvml: no recorded process initialised CUDA")));
}

/// A program of that name that starts its command as it is, like a container that shows nothing of the recorder.
std::string runtime_that_hides(const Folder& folder, const std::string& name) {
  const std::string path = (folder / name).string();
  std::ofstream{path} << "#!/bin/sh\nshift 2\nexec env -i \"$@\"\n";
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

TEST(Launcher, AContainerThatHidesTheRecorderIsSaid) {
  const Folder folder;
  const Recorded recorded = record(folder, {runtime_that_hides(folder, "apptainer"), "exec", "image.sif", "/bin/true"});
  EXPECT_EQ(recorded.status, 0);
  // Which of them depends on whether the container would see the library, which lies where this was built.
  EXPECT_THAT(recorded.summary.notes,
              ::testing::Contains(::testing::AnyOf(HasSubstr("no process in the apptainer container"),
                                                   HasSubstr("the apptainer container does not see"))));
}

TEST(Launcher, AContainerThatShowsItIsRecordedAndNamed) {
  const Folder folder;
  const std::string apptainer = (folder / "apptainer").string();
  std::ofstream{apptainer} << "#!/bin/sh\nshift 2\nAPPTAINER_CONTAINER=image.sif exec \"$@\"\n";
  fs::permissions(apptainer, fs::perms::owner_all);
  const Recorded recorded = record(folder, {apptainer, "exec", "image.sif", program("annotate_actor")});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->metadata(recorded.run->processes()[0], "container"), "apptainer");
  EXPECT_THAT(recorded.summary.notes,
              ::testing::Not(::testing::Contains(HasSubstr("no process in the apptainer container"))));
}

TEST(Launcher, AStaticProgramIsSampledFromOutside) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {program("static_actor"), "1.5"}, .sample_hz = 50});
  ASSERT_TRUE(recorded.run) << recorded.why;
  ASSERT_EQ(recorded.run->processes().size(), 1U);
  const Process& process = recorded.run->processes()[0];
  EXPECT_EQ(recorded.run->text(process.program), "static_actor");
  EXPECT_EQ(process.ending, Ending::exited);
  double most = 0;
  for (const CounterSample& sample : recorded.run->samples()) most = std::max(most, sample.value);
  EXPECT_GT(most, 0);
}

TEST(Launcher, AProcessIsSampledFromItsStartOn) {
  const Folder folder;
  const Recorded recorded = record(folder, {.command = {"/bin/sleep", "1.3"}, .sample_hz = 50});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const TimeRange covered = recorded.run->processes().front().recorded;
  EXPECT_GT(covered.length(), std::chrono::milliseconds{1000});
  EXPECT_LT(recorded.run->samples().front().time - covered.begin, std::chrono::milliseconds{200});
}

TEST(Launcher, ProcessesThatCannotBeSampledAreCounted) {
  const Folder folder;
  RecordOptions options{.command = shell("for i in $(seq 70); do sleep 2.2 & done; wait"), .sample_hz = 20};
  const Recorded recorded = record(folder, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_GE(recorded.summary.not_watched, 70U + 1U - 64U);
  EXPECT_EQ(recorded.run->quality().of(Counter::processes_not_watched), recorded.summary.not_watched);
}

TEST(Launcher, APythonProgramWithoutNvtxLeavesHostSamples) {
  if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  const Folder folder;
  const Recorded recorded =
      record(folder, {.command = {"/usr/bin/python3", "-c", "import time; time.sleep(1.4)"}, .sample_hz = 50});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_FALSE(recorded.run->samples().empty());
}

TEST(Launcher, AProgramHasADescriptorMoreForItsConnectionsOnlyWhereTheHostIsSampled) {
  SKIP_UNDER_THREAD_SANITIZER(only_main_thread);
  if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  constexpr const char* look_for_it =  // status 7: it is there before the seconds are over
      "import ctypes, os, sys, time\n"
      "api = ctypes.CDLL(os.environ['RANKSCOPE_INJECT_LIB']).rankscope_api\n"
      "api.restype = ctypes.POINTER(ctypes.c_void_p)\n"
      "ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint32)(api()[3])(b'mark', 4)\n"
      "end = time.monotonic() + float(sys.argv[1])\n"
      "while time.monotonic() < end:\n"
      "    for file in os.listdir('/proc/self/fd'):\n"
      "        link = f'/proc/self/fd/{file}'\n"
      "        try:\n"
      "            if os.readlink(link) == f'/proc/{os.getpid()}/fd': sys.exit(7)\n"
      "        except FileNotFoundError: pass\n"
      "    time.sleep(0.01)\n";
  const auto status = [&](double sample_hz, const char* seconds) {
    const Folder folder;
    return record(folder, {.command = {"/usr/bin/python3", "-c", look_for_it, seconds}, .sample_hz = sample_hz}).status;
  };
  EXPECT_EQ(status(10, "60"), 7);
  EXPECT_EQ(status(0, "1"), 0);
}

TEST(Launcher, SettingsThatALauncherScrubsComeBackWithThePreload) {
  const Folder folder;
  const Recorded recorded = record(folder, {"/usr/bin/env", "-u", "NVTX_INJECTION64_PATH", program("annotate_actor")});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "step"), 2U);
}

TEST(Launcher, HooksOfSourcesThatAreNotAskedForStayFree) {
  const Folder folder;
  RecordOptions options{.command = shell("test -z \"$NVTX_INJECTION64_PATH$NCCL_PROFILER_PLUGIN\"")};
  options.collect = "annotate,host";
  EXPECT_EQ(record(folder, options).status, 0);
}

TEST(Launcher, SiblingsOfOneJobShareARecording) {
  const Folder folder;
  const Variable job{"SLURM_JOB_ID", "17"};
  const Variable step{"SLURM_STEP_ID", "0"};
  const Variable tasks{"SLURM_STEP_NUM_TASKS", "2"};
  for (const char* task : {"0", "1"}) {
    const Variable rank{"SLURM_PROCID", task};
    const Recorded recorded = record(folder, {program("annotate_actor")});
    ASSERT_TRUE(recorded.run) << recorded.why;
  }
  const auto run = recording::read_recording(folder / "run.rankscope");
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->ranks().size(), 2U);
  const Variable other{"SLURM_STEP_ID", "1"};
  EXPECT_FALSE(run_recorded(options_for(folder / "run.rankscope", {"/bin/true"}))) << "another step is another job";
}

TEST(Launcher, GuessesTheLauncher) {
  EXPECT_EQ(guess_launcher({"torchrun", "--nproc-per-node=2", "train.py"}), "torchrun");
  EXPECT_EQ(guess_launcher({"python3", "-m", "torch.distributed.run", "train.py"}), "torchrun");
  EXPECT_EQ(guess_launcher({"srun", "-n", "4", "python3", "train.py"}), "slurm");
  EXPECT_EQ(guess_launcher({"/usr/bin/mpirun", "-n", "4", "./train"}), "mpirun");
  EXPECT_EQ(guess_launcher({"python3", "train.py"}), "");
  EXPECT_EQ(guess_launcher({"/bin/rankscope-train", "--ranks", "4"}), "rankscope train");
}

TEST(Launcher, AProgramThatCouldLaunchIsATaskOfTheSlurmStepAroundIt) {
  const Variable step{"SLURM_STEP_ID", "0"};
  const Variable tasks{"SLURM_STEP_NUM_TASKS", "2"};
  EXPECT_EQ(guess_launcher({"/bin/rankscope-train"}), "slurm");
  EXPECT_EQ(guess_launcher({"torchrun", "--no-python", "/bin/rankscope-train"}), "torchrun");
}

/// record_driver around nvtx_actor's wait_signal; `signal` is sent to the driver alone once the actor is ready.
int status_after(int signal, const Folder& folder) {
  prepare_sanitizer();
  std::array<int, 2> out{};
  EXPECT_EQ(pipe(out.data()), 0);
  const std::string driver = program("record_driver");
  const std::string actor = program("nvtx_actor");
  const std::string recording = (folder / "run.rankscope").string();
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    close(out[0]);
    execl(driver.c_str(), "record_driver", RANKSCOPE_TEST_LIBRARY, recording.c_str(), actor.c_str(), "wait_signal",
          nullptr);
    _exit(99);
  }
  close(out[1]);
  char letter = 0;
  while (read(out[0], &letter, 1) == 1 && letter != '\n') {
  }
  kill(child, signal);
  int state = 0;
  waitpid(child, &state, 0);
  close(out[0]);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

class EverySignal : public ::testing::TestWithParam<int> {};

TEST_P(EverySignal, IsPassedOnAndTheRecordingIsGathered) {
  if (!fs::exists(program("nvtx_actor"))) GTEST_SKIP() << "built without NVTX headers";
  const Folder folder;
  EXPECT_EQ(status_after(GetParam(), folder), 40 + GetParam());
  const auto run = recording::read_recording(folder / "run.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(spans_named(**run, "waiting"), 1U);
  const std::string name = std::string{"SIG"} + sigabbrev_np(GetParam());
  EXPECT_EQ((*run)->metadata("stopped_by"), GetParam() == SIGUSR1 ? "" : name) << "who was asked to end was not lost";
}

INSTANTIATE_TEST_SUITE_P(Signals, EverySignal, ::testing::Values(SIGINT, SIGTERM, SIGHUP, SIGUSR1));

}  // namespace
}  // namespace rankscope::collectors
