// --pytorch: operators through ITT, steps from the optimizer, and the hook in Python programs. With a stand-in for
// PyTorch; the real one is in tests/cli/pytorch_test.cpp.
#include <gmock/gmock.h>

#include <fstream>

#include "launch/pytorch.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

RecordOptions observed(std::vector<std::string> command) {
  return {.command = std::move(command), .pytorch = PyTorch::expected};
}

/// Indices of the steps of a run, -1 for those that have none.
std::vector<std::int64_t> steps_of(const Run& run) {
  std::vector<std::int64_t> steps;
  for (const Span& span : run.spans())
    if (span.kind == SpanKind::step) steps.push_back(run.number(run.id_of(span), "index").value_or(-1));
  return steps;
}

TEST(PyTorchOperators, HaveTheirNamesAndKindsAndThoseOfOthersAreLeftOut) {
  const Folder folder;
  const Recorded recorded = record(folder, observed({program("itt_actor"), "operators"}));
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(names_of(run),
              ElementsAre("enumerate(DataLoader)#Iter.__next__", "aten::linear", "aten::addmm", "AddmmBackward0",
                          "my range", "Optimizer.step#SGD.step", "triton_poi_fused_0"));
  const auto kind = [&run](std::string_view name) { return span_named(run, name)->kind; };
  EXPECT_EQ(kind("enumerate(DataLoader)#Iter.__next__"), SpanKind::data);
  EXPECT_EQ(kind("aten::addmm"), SpanKind::op);
  EXPECT_EQ(kind("AddmmBackward0"), SpanKind::op);
  EXPECT_EQ(kind("my range"), SpanKind::user);
  EXPECT_EQ(kind("Optimizer.step#SGD.step"), SpanKind::optimizer);
  EXPECT_EQ(kind("triton_poi_fused_0"), SpanKind::op);
  EXPECT_EQ(run.quality().of(Counter::spans_unclosed), 0U);
  EXPECT_EQ(run.quality().of(Counter::pop_without_push), 0U) << "gloo ends on another thread what it began on this one";
}

TEST(PyTorchOperators, AroundACollectiveAreRangesOfTheHostAndNoSecondOne) {
  const Folder folder;
  const Recorded recorded = record(folder, observed({program("itt_actor"), "collective"}));
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(run.collectives().size(), 1U);
  EXPECT_EQ(span_named(run, "c10d::allreduce_")->kind, SpanKind::op);
  EXPECT_EQ(span_named(run, "record_param_comms")->kind, SpanKind::user);
  EXPECT_EQ(span_named(run, "nccl:all_reduce")->kind, SpanKind::api);
  EXPECT_EQ(std::ranges::count(run.spans(), SpanKind::comm, &Span::kind), 1);
}

TEST(PyTorchOperators, AreNotRecordedOnRequest) {
  const Folder folder;
  const RecordOptions options{.command = {program("itt_actor"), "operators"}, .pytorch = PyTorch::left_out};
  EXPECT_EQ(record(folder, options).status, 3) << "the program found no tracer";
}

TEST(PyTorchSteps, LastFromTheEndOfAnOptimizerStepToTheNext) {
  const Folder folder;
  const Recorded recorded = record(folder, observed({program("itt_actor"), "steps", "5"}));
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(steps_of(run), ElementsAre(2, 3, 4, -1)) << "the first two show where; the last one is cut off";
  const Span& step = *span_named(run, "step");
  EXPECT_EQ(std::ranges::count_if(run.spans(),
                                  [&](const Span& span) {
                                    return span.kind == SpanKind::optimizer && span.time.begin >= step.time.begin &&
                                           span.time.end <= step.time.end;
                                  }),
            1);
  EXPECT_THAT(recorded.summary.notes, IsEmpty());
}

TEST(PyTorchSteps, FollowTheRangesAroundThem) {
  const Folder folder;
  const Recorded recorded = record(folder, observed({program("itt_actor"), "loops"}));
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(steps_of(run), ElementsAre(2, 3, -1, 6, 7, -1))
      << "each loop is learned; what follows its last step is none";
  EXPECT_EQ(run.metadata(run.processes()[0], "nvtx_ranges_interleaved"), "");
  EXPECT_EQ(run.quality().of(Counter::spans_unclosed), 0U);
  for (const Span& span : run.spans()) {
    if (run.text(span.name) != "evaluate") continue;
    for (const Span& step : run.spans())
      EXPECT_FALSE(step.kind == SpanKind::step && step.time.begin < span.time.end && span.time.begin < step.time.end);
  }
}

TEST(PyTorchSteps, AreThoseOfTheProgramWhereItNamesThem) {
  const Folder folder;
  const Recorded recorded = record(folder, observed({program("itt_actor"), "named"}));
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(steps_of(*recorded.run), IsEmpty());
  EXPECT_EQ(spans_named(*recorded.run, "step 4"), 1U);
}

TEST(PyTorchSteps, MoveTheWindow) {
  const Folder folder;
  RecordOptions options = observed({program("itt_actor"), "steps", "8"});
  options.window = "1,1,2,1";
  const Recorded recorded = record(folder, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(steps_of(*recorded.run), ElementsAre(4, 5));
}

/// Runs Python with `words` and the stand-in; what it prints, also of errors, goes into `said`. `path` is in front of
/// the stand-in on its module path, behind the hook.
Recorded python(const Folder& folder, const std::vector<std::string>& words, std::string& said,
                const std::string& path = "", PyTorch wish = PyTorch::expected) {
  const std::string standin = RANKSCOPE_TEST_PYTORCH;
  const Variable modules{"PYTHONPATH", path + (path.empty() ? "" : ":") + standin + ":" + standin + "/site"};
  const Variable cache{"PYTHONDONTWRITEBYTECODE", "1"};
  std::vector<std::string> command{"/bin/sh", "-c", "exec python3 \"$@\" > \"$0\" 2>&1", (folder / "said").string()};
  command.insert(command.end(), words.begin(), words.end());
  RecordOptions options = observed(command);
  options.pytorch = wish;
  Recorded recorded = record(folder, options);
  said = rankscope::testing::read_file(folder / "said");
  return recorded;
}

/// Runs tests/collectors/programs/pytorch_standin/train.py.
Recorded train(const Folder& folder, std::string& said, const std::string& path = "") {
  return python(folder, {std::string{RANKSCOPE_TEST_PYTORCH} + "/train.py"}, said, path);
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Says how many finders of the hook there are.
std::string count_finders() {
  return "import sys; print('finders', sum('Torch' in type(f).__name__ for f in sys.meta_path))";
}

TEST(PyTorchHook, TellsStepsBackwardAndMemoryOfAProgramThatKnowsNothingOfIt) {
  const Folder folder;
  std::string said;
  const Recorded recorded = train(folder, said);
  EXPECT_EQ(recorded.status, 0) << said;
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_THAT(steps_of(run), ElementsAre(2, 3, 4, -1)) << "of the optimizer that stepped first";
  EXPECT_EQ(run.quality().of(Counter::spans_unclosed), 0U) << "what follows the last step is ended, and is none";
  EXPECT_EQ(spans_named(run, "backward"), 5U);
  EXPECT_EQ(span_named(run, "backward")->kind, SpanKind::backward);
  std::vector<std::pair<std::string, double>> counted;
  for (const CounterTrack& track : run.counters()) {
    if (const std::string name{run.text(track.name)}; name.ends_with("_bytes") && name != "rss_bytes")
      counted.emplace_back(name, run.samples_of(track)[0].value);
  }
  EXPECT_THAT(counted, Contains(Pair("allocated_bytes", 1000)));
  EXPECT_THAT(counted, Contains(Pair("peak_allocated_bytes", 3000)));
  EXPECT_THAT(counted, Contains(Pair("reserved_bytes", 4096)));
}

TEST(PyTorchHook, LeavesNothingOfAProgramThatOnlyImportsIt) {
  const Folder folder;
  const Variable path{"PYTHONPATH", RANKSCOPE_TEST_PYTORCH};
  const Variable cache{"PYTHONDONTWRITEBYTECODE", "1"};
  RecordOptions options = observed({"python3", "-c", "import torch"});
  // Not the host: that of a program that lives for a second, as under sanitizers, is sampled.
  options.collect = "annotate";
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.summary.processes, 0U);
}

TEST(PyTorchHook, GivesWayToTheProgramsOwnProfilerAndComesBack) {
  const Folder folder;
  std::string said;
  train(folder, said);
  EXPECT_THAT(said,
              HasSubstr("enable itt\ndisable itt\nenable kineto\nprofiled\ndisable kineto\nenable itt\nstill on\n"));
}

/// What the recording of a program says if the program starts a profiler that asks for `activity`, after CUDA was
/// initialised (the recorder then uses CUPTI) or without CUDA.
std::string told_of_profiler(std::string_view activity, bool cuda) {
  const Folder folder;
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable version{"STANDIN_CUPTI_VERSION", "130001"};
  const std::string start = "ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection()\n";
  const std::string text =
      "import ctypes, os, torch\n"
      "class Activity: name = '" +
      std::string{activity} + "'\n" + (cuda ? start : "") +
      "torch.autograd.profiler._enable_profiler('kineto', {Activity()})\n"
      "torch.autograd.profiler._disable_profiler()\n"
      "torch.optim.SGD().step()\n";
  std::string said;
  const Recorded recorded = python(folder, {"-c", text}, said);
  EXPECT_EQ(recorded.status, 0) << said;
  EXPECT_TRUE(recorded.run) << recorded.why;
  return recorded.run ? std::string{told(*recorded.run, "torch_profiler_without_gpu")} : "";
}

TEST(PyTorchHook, TellsThatATorchProfilerGetsNoGpuWhereTheRecorderUsesCupti) {
  SKIP_UNDER_THREAD_SANITIZER(only_main_thread);
  EXPECT_EQ(told_of_profiler("CUDA", true), "the recorder uses CUPTI");
  EXPECT_EQ(told_of_profiler("CPU", true), "") << "it asks for nothing that it does not get";
  EXPECT_EQ(told_of_profiler("CUDA", false), "") << "the recorder does not use CUPTI";
}

TEST(PyTorchHook, RunsTheSitecustomizeOfTheUserAndLeavesTheModulePath) {
  const Folder folder;
  std::string said;
  train(folder, said);
  EXPECT_THAT(said, HasSubstr("pytorch_standin/site/sitecustomize.py"));
  EXPECT_THAT(said, HasSubstr("hook in the path: False"));
}

TEST(PyTorchHook, LeavesTheChildrenOfAForkAlone) {
  const Folder folder;
  std::string said;
  train(folder, said);
  EXPECT_THAT(said, HasSubstr("in the child: None"));
}

TEST(PyTorchHook, SaysWhatIsMissing) {
  std::string said;
  {
    const Folder folder;
    const Variable without{"WITHOUT_ITT", "1"};
    EXPECT_THAT(train(folder, said).summary.notes,
                ElementsAre(HasSubstr("PyTorch: this PyTorch was built without ITT")));
  }
  EXPECT_THAT(said, Not(HasSubstr("enable itt")));
  EXPECT_THAT(said, HasSubstr("profiled")) << "the program's own profiler is not ours to break";
}

TEST(PyTorchHook, SaysThatNoProgramRanAnOperator) {
  const Folder folder;
  const Variable rank{"RANK", "0"};
  EXPECT_THAT(record(folder, observed({"python3", "-I", "-c", "import time; time.sleep(0.8)"})).summary.notes,
              ElementsAre(HasSubstr("PyTorch: no recorded Python program reported operators or steps of PyTorch")));
}

TEST(PyTorchHook, GivesNoOperatorsToAThreadThatHadNoneBeforeItsProfiler) {
  const Folder folder;
  std::string said;
  const std::string program =
      "import threading, torch\n"
      "profiler = torch.autograd.profiler\n"
      "def profile():\n"
      "    with profiler.profile(): pass\n"
      "    print('behind it:', profiler.running())\n"
      "thread = threading.Thread(target=profile)\n"
      "thread.start()\n"
      "thread.join()\n"
      "print('main thread:', profiler.running())\n";
  EXPECT_EQ(python(folder, {"-c", program}, said).status, 0) << said;
  EXPECT_THAT(said, HasSubstr("behind it: None"));
  EXPECT_THAT(said, HasSubstr("main thread: itt"));
}

TEST(PyTorchHook, WaitsForTheImportNotForALook) {
  const Folder folder;
  std::string said;
  const std::string program =
      "import importlib.util\n"
      "for _ in range(2): assert importlib.util.find_spec('torch') is not None\n" +
      count_finders() + "\nimport torch\n" + count_finders();
  EXPECT_EQ(python(folder, {"-c", program}, said).status, 0) << said;
  EXPECT_EQ(said.substr(0, said.find("disable")), "finders 1\nenable itt\nfinders 0\n");
}

TEST(PyTorchHook, WaitsForTheImportThatSucceeds) {
  const Folder folder;
  std::string said;
  const std::string program =
      "import sys\n"
      "sys.modules['torch.cuda'] = None\n"
      "try:\n"
      "    import torch\n"
      "except ImportError:\n"
      "    print('failed')\n"
      "del sys.modules['torch.cuda']\n"
      "import torch\n"
      "print(vars(torch.__spec__.loader).get('exec_module'))\n";
  EXPECT_EQ(python(folder, {"-c", program}, said).status, 0) << said;
  EXPECT_EQ(said.substr(0, said.find("disable")), "failed\nenable itt\nNone\n") << "and leaves nothing behind";
}

TEST(PyTorchHook, IsThereOnceWhereTorchIsImportedTwice) {
  const Folder folder;
  std::string said;
  const std::string program =
      "import sys, torch\n"
      "for name in [name for name in sys.modules if name.startswith('torch')]: del sys.modules[name]\n"
      "import torch\n";
  EXPECT_EQ(python(folder, {"-c", program}, said).status, 0) << said;
  EXPECT_EQ(times(said, "enable itt"), 1U) << said;
}

TEST(PyTorchHook, IsThereOnceInARecordingInsideARecording) {
  const Folder folder;
  fs::create_directory(folder / "outer");
  const auto outer = write_pytorch_hook(folder / "outer");
  ASSERT_TRUE(outer);
  std::string said;
  const Recorded recorded = train(folder, said, outer->string());
  EXPECT_EQ(recorded.status, 0) << said;
  EXPECT_EQ(times(said, "enable itt"), 2U) << "at first, and behind the program's own profiler: " << said;
  EXPECT_THAT(said, HasSubstr("pytorch_standin/site/sitecustomize.py"));
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(steps_of(*recorded.run), ElementsAre(2, 3, 4, -1));
}

TEST(PyTorchHook, ThatCannotRunLeavesTheProgramAlone) {
  SKIP_UNDER_THREAD_SANITIZER(only_main_thread);
  const Folder folder;
  fs::create_directory(folder / "modules");
  std::ofstream{folder / "modules/ctypes.py"} << "raise ImportError('no ctypes here')\n";
  const Variable rank{"RANK", "0"};
  std::string said;
  const std::string program =
      "import sys, time, torch\n"
      "torch.optim.SGD().step()\n"
      "print('of the user:', hasattr(sys.modules['sitecustomize'], 'MINE'))\n"
      "time.sleep(0.8)\n";  // so long that the process is recorded
  const Recorded recorded = python(folder, {"-c", program}, said, (folder / "modules").string());
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(said, "of the user: True\n");
  EXPECT_THAT(
      recorded.summary.notes,
      ElementsAre(AllOf(HasSubstr("PyTorch: no recorded Python program reported operators"), HasSubstr("ctypes"))));
}

TEST(PyTorchHook, DoesWithoutWhatABuildOfPyTorchLacks) {
  const Folder folder;
  const Variable without{"WITHOUT_ITT_MODULE", "1"};
  std::string said;
  const Recorded recorded = train(folder, said);
  EXPECT_EQ(recorded.status, 0) << said;
  EXPECT_THAT(recorded.summary.notes, ElementsAre(HasSubstr("PyTorch: this PyTorch was built without ITT")));
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(steps_of(*recorded.run), ElementsAre(2, 3, 4, -1));
}

TEST(PyTorchHook, TellsAProblemOnceAndDoesNotTryAgain) {
  const Variable without{"WITHOUT_MEMORY_STATS", "1"};
  const Variable refusing{"REFUSING_ITT", "1"};
  const Folder folder;
  std::string said;
  const Recorded recorded = train(folder, said);
  EXPECT_EQ(recorded.status, 0) << said;
  EXPECT_EQ(times(said, "asked for memory"), 1U) << said;
  EXPECT_EQ(times(said, "refuse itt"), 1U) << said;
  EXPECT_THAT(said, HasSubstr("\noff\n")) << "PyTorch does not believe that a profiler runs";
  EXPECT_THAT(recorded.summary.notes,
              ElementsAre("PyTorch: could not observe operators: RuntimeError: ITT is off today; could not count "
                          "memory: RuntimeError: no statistics"));
}

TEST(PyTorchHook, ObservesAProgramThatImportsTorchWithoutBeingAskedTo) {
  const Folder folder;
  std::string said;
  const std::string program = std::string{RANKSCOPE_TEST_PYTORCH} + "/train.py";
  const Recorded recorded = python(folder, {program}, said, "", PyTorch::where_imported);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(steps_of(*recorded.run), ElementsAre(2, 3, 4, -1)) << said;
}

TEST(PyTorchHook, SaysNothingOfAProgramThatDoesNotImportTorch) {
  const Folder folder;
  const Variable rank{"RANK", "0"};
  const RecordOptions options{.command = {"python3", "-c", "import time; time.sleep(0.8)"}};
  EXPECT_THAT(record(folder, options).summary.notes, IsEmpty());
}

TEST(PyTorchHook, IsLeftOutOnRequest) {
  const Folder folder;
  std::string said;
  const std::string prints_path = "import os; print(os.environ['PYTHONPATH'])";
  python(folder, {"-c", prints_path}, said, "", PyTorch::left_out);
  EXPECT_TRUE(said.starts_with(RANKSCOPE_TEST_PYTORCH)) << said;
}

TEST(PyTorchHook, NeedsTheAnnotations) {
  const Folder folder;
  RecordOptions options = observed({"true"});
  options.collect = "host";
  EXPECT_THAT(record(folder, options).why, HasSubstr("--pytorch needs the source annotate"));
}

}  // namespace
}  // namespace rankscope::collectors
