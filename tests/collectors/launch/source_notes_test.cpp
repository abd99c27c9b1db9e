// What `record` says at its end of sources that need a GPU.
#include "launch/source_notes.h"

#include <gmock/gmock.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr HostDevices nvidia{.nvidia = true};

using ProcessMetadata = decltype(recording::GatherSummary::metadata);

std::vector<std::string> notes_of(const std::vector<ProcessMetadata>& processes, std::uint64_t activities = 0,
                                  HostDevices devices = nvidia, const std::string& asked = "") {
  RecordSummary summary{.ranks = processes.size()};
  for (const ProcessMetadata& one : processes)
    add_to_story(summary.sources, {.activities = activities, .metadata = one});
  return source_notes(sources_from(asked).value(), summary, devices);
}

const ProcessMetadata working{{"cuda", "initialised"}, {"nccl_profiler_version", "5"}, {"nccl_version", "2.28.9"}};

TEST(SourceNotes, WhereEverythingWasRecordedNothingIsSaid) { EXPECT_THAT(notes_of({working, working}, 7), IsEmpty()); }

TEST(SourceNotes, AHostWithoutDeviceIsOneSentenceWhateverFailedForIt) {
  const ProcessMetadata failing{{"cuda", "initialised"}, {"cupti_problem", "CUPTI refused"}, {"nvml_problem", "none"}};
  EXPECT_THAT(notes_of({failing, failing}, 0, {}), ElementsAre(HasSubstr("no NVIDIA GPU was found")));
  EXPECT_THAT(notes_of({{}}, 0, {}, "annotate,host"), IsEmpty()) << "nothing of a GPU was asked for";
  EXPECT_THAT(notes_of({{}}, 0, {}, "nccl"), ElementsAre(HasSubstr("nccl: no NVIDIA GPU")));
}

TEST(SourceNotes, GpusOfAmdAreSaidNotToBeRecorded) {
  EXPECT_THAT(notes_of({{}}, 0, {.nvidia = false, .amd = true}),
              ElementsAre(AllOf(HasSubstr("/dev/kfd"), HasSubstr("torch.profiler"))));
  EXPECT_THAT(notes_of({working}, 7, {.nvidia = true, .amd = true}), IsEmpty());
}

TEST(SourceNotes, OfAmdsGpusTheCollectivesOfRcclAreRecorded) {
  const ProcessMetadata rccl{{"nccl_profiler_version", "6"}, {"nccl_version", "2.27.7 (RCCL)"}};
  EXPECT_THAT(notes_of({rccl}, 0, {.nvidia = false, .amd = true}),
              ElementsAre(AllOf(HasSubstr("/dev/kfd"), HasSubstr("only the collectives of RCCL"))));
  ProcessMetadata slow = rccl;
  slow.emplace_back("nccl_timer_problem", "the timer of the GPU does not count");
  EXPECT_THAT(notes_of({slow}, 0, {.nvidia = false, .amd = true}),
              ElementsAre(HasSubstr("/dev/kfd"), "nccl: the timer of the GPU does not count"));
}

TEST(SourceNotes, EachReasonIsSaidOnceWithTheNumberOfItsProcesses) {
  const ProcessMetadata held{{"cuda", "initialised"}, {"cupti_problem", "Kineto holds CUPTI"}};
  const ProcessMetadata absent{{"cuda", "initialised"}, {"cupti_problem", "no libcupti"}, {"nvml_problem", "no NVML"}};
  EXPECT_THAT(notes_of({held, held, absent}, 0, nvidia, "cupti,nvml"),
              ElementsAre("cupti: Kineto holds CUPTI (2 processes)", "cupti: no libcupti (1 process)",
                          "nvml: no NVML (1 process)"));
}

TEST(SourceNotes, TheVariableWithWhichTorchProfilerTakesOverIsNamed) {
  setenv("KINETO_USE_DAEMON", "1", 1);
  const auto notes = notes_of({working}, 7), without_cupti = notes_of({working}, 7, nvidia, "annotate,nccl");
  unsetenv("KINETO_USE_DAEMON");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("cupti: KINETO_USE_DAEMON is set")));
  EXPECT_THAT(without_cupti, IsEmpty());
}

TEST(SourceNotes, AProgramThatNeverTouchedCudaIsTold) {
  EXPECT_THAT(notes_of({{}, {}}), ElementsAre(HasSubstr("no recorded process initialised CUDA")));
}

TEST(SourceNotes, CountersThatWereAskedForAndNotSampledAreTold) {
  const ProcessMetadata refused{{"cuda", "initialised"}, {"pm_problem", "this user may not"}};
  EXPECT_THAT(notes_of({refused}, 7, nvidia, "pm"), ElementsAre("pm: this user may not (1 process)"));
  EXPECT_THAT(notes_of({working}, 7, nvidia, "pm"), ElementsAre(HasSubstr("pm: no GPU was sampled")));
  const ProcessMetadata sampled{{"cuda", "initialised"}, {"pm_gpu_0", "GPU-1 GH100"}};
  EXPECT_THAT(notes_of({sampled, working}, 7, nvidia, "pm"), IsEmpty()) << "one of two on a GPU samples it";
}

TEST(SourceNotes, CudaWithoutWorkIsTold) {
  EXPECT_THAT(notes_of({working}, 0), ElementsAre(HasSubstr("cupti: CUDA was initialised, but no kernel")));
}

TEST(SourceNotes, ATorchProfilerThatGotNoCuptiIsToldOnceWithWhatToDo) {
  ProcessMetadata profiled = working;
  profiled.emplace_back("torch_profiler_without_gpu", "the recorder uses CUPTI");
  EXPECT_THAT(notes_of({profiled, profiled, working}, 7),
              ElementsAre(AllOf(HasSubstr("cupti: torch.profiler ran in 2 processes, but could not record the GPU"),
                                HasSubstr("record with --collect annotate,nvtx,host,nccl,nvml"))));
}

TEST(SourceNotes, AnNcclThatDoesNotTakeThePluginIsToldWithItsVersion) {
  const ProcessMetadata old{{"cuda", "initialised"}, {"nccl_version", "2.21.5"}};
  EXPECT_THAT(notes_of({old}, 7), ElementsAre(AllOf(HasSubstr("NCCL 2.21.5"), HasSubstr("2.23 or newer"))));
  const ProcessMetadata other{{"cuda", "initialised"}};
  EXPECT_THAT(notes_of({other, other}, 7), ElementsAre(HasSubstr("no recorded process called NCCL")));
  EXPECT_THAT(notes_of({other}, 7), IsEmpty()) << "one process has nobody to talk to";
  const ProcessMetadata gloo{{"cuda", "initialised"}, {"pytorch_collectives", "c10d"}};
  EXPECT_THAT(notes_of({gloo, gloo}, 7), IsEmpty()) << "its collectives were recorded: it needs no NCCL";
}

TEST(SourceNotes, AnNcclThatTakesThePluginAndReportsNoCollectiveIsToldWithItsVersion) {
  const auto notes = [](std::uint64_t kernels, std::uint64_t operations, const std::string& asked) {
    RecordSummary summary{.ranks = 2};
    for (int i = 0; i < 2; ++i)
      add_to_story(summary.sources,
                   {.activities = 9, .nccl_kernels = kernels, .library_operations = operations, .metadata = working});
    return source_notes(sources_from(asked).value(), summary, nvidia);
  };
  EXPECT_THAT(notes(5, 0, ""),
              ElementsAre(AllOf(HasSubstr("NCCL 2.28.9"), HasSubstr("reported none of them (in 2 processes)"))));
  EXPECT_THAT(notes(5, 5, ""), IsEmpty());
  EXPECT_THAT(notes(0, 0, ""), IsEmpty()) << "no collective ran";
  EXPECT_THAT(notes(5, 0, "cupti"), IsEmpty()) << "NCCL was not asked";
}

TEST(HostDevices, AreKnownByTheirFiles) {
  const rankscope::testing::TemporaryFolder folder;
  const auto has = [&] { return host_devices(folder.path()); };
  EXPECT_FALSE(has().nvidia || has().amd);
  std::filesystem::create_directory(folder / "dev");
  std::ofstream{folder / "dev" / "nvidia-caps"} << "";
  std::ofstream{folder / "dev" / "kfd"} << "";
  EXPECT_FALSE(has().nvidia) << "the capabilities alone are no GPU";
  EXPECT_TRUE(has().amd);
  std::ofstream{folder / "dev" / "nvidia3"} << "";
  EXPECT_TRUE(has().nvidia) << "a container may see the one that it was given only";
}

}  // namespace
}  // namespace rankscope::collectors
