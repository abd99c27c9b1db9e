// What `rankscope doctor` says about the sources that need a GPU.
#include "rankscope/collectors/gpu_state.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;

GpuState state_of(const std::string& what) {
  for (const GpuState& state : gpu_states())
    if (state.what == what) return state;
  return {.good = false, .what = "no line " + what, .found = {}, .advice = {}};
}

TEST(GpuState, CuptiIsNamedWithItsPathAndVersion) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable version{"STANDIN_CUPTI_VERSION", "26"};
  const GpuState state = state_of("CUPTI");
  EXPECT_TRUE(state.good) << state.found;
  EXPECT_THAT(state.found, ::testing::AllOf(HasSubstr("libcupti_standin.so"), HasSubstr("CUDA 12.8 (26)")));
}

TEST(GpuState, AVersionWithFaultsIsNotGoodAndSaysWhy) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable version{"STANDIN_CUPTI_VERSION", "130000"};
  const GpuState state = state_of("CUPTI");
  EXPECT_FALSE(state.good);
  EXPECT_THAT(state.found, HasSubstr("13.0 Update 1"));
}

TEST(GpuState, GpusAreListedByUuid) {
  const Variable cupti{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable library{"RANKSCOPE_NVML", program("libnvml_standin.so")};
  EXPECT_THAT(state_of("GPUs (NVML)").found,
              HasSubstr("driver 580.65.06; 0 NVIDIA Stand-in GPU-0; 1 NVIDIA Stand-in GPU-1"));
}

TEST(GpuState, AHookOfAnotherToolIsNamed) {
  const Variable cupti{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable hook{"NCCL_PROFILER_PLUGIN", "/opt/inspector.so"};
  const GpuState state = state_of("NCCL hook");
  EXPECT_FALSE(state.good);
  EXPECT_EQ(state.found, "NCCL_PROFILER_PLUGIN is set to /opt/inspector.so");
}

// A libcupti that was loaded once stays, and is then the one of the process.
GpuState state_in(const Folder& root, const std::string& what) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  for (const GpuState& state : gpu_states(root.path()))
    if (state.what == what) return state;
  return {.good = false, .what = "no line " + what, .found = {}, .advice = {}};
}
void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream{path} << text;
}

TEST(GpuState, AContainerWithoutTheDriverOfItsHostIsToldHowToGetIt) {
  const Folder root;
  EXPECT_THAT(state_in(root, "GPU devices").found, HasSubstr("no NVIDIA GPU"));
  write(root / "dev/nvidia0", "");
  EXPECT_TRUE(state_in(root, "GPU devices").good);
  EXPECT_EQ(state_in(root, "GPU devices").found, "nvidia0");
  const GpuState driver = state_in(root, "NVIDIA driver");
  if (driver.good) GTEST_SKIP() << "this machine has a driver";
  EXPECT_THAT(driver.advice, HasSubstr("apptainer --nv"));
}

TEST(GpuState, GpusThatMayNotBeOpenedAreNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  const Folder root;
  write(root / "dev/nvidia0", "");
  fs::permissions(root / "dev/nvidia0", fs::perms::none);
  EXPECT_THAT(state_in(root, "GPU devices").found, HasSubstr("cannot be opened: /dev/nvidia0"));
}

TEST(GpuState, GpusOfAmdAreSaidNotToBeRecorded) {
  const Folder root;
  write(root / "dev/kfd", "");
  const GpuState state = state_in(root, "GPU devices");
  EXPECT_FALSE(state.good);
  EXPECT_THAT(state.found, HasSubstr("AMD"));
  EXPECT_THAT(state.advice, HasSubstr("not recorded"));
}

TEST(GpuState, ProfilersThatRunAreNamed) {
  const Folder root;
  EXPECT_TRUE(state_in(root, "other profilers").good);
  write(root / "proc/71/comm", "python3\n");
  write(root / "proc/72/comm", "nsys\n");
  const GpuState state = state_in(root, "other profilers");
  EXPECT_FALSE(state.good);
  EXPECT_EQ(state.found, "nsys (process 72)");
  EXPECT_THAT(state.advice, HasSubstr("only one profiler can use CUPTI"));
}

TEST(GpuState, OfSeveralProfilersTheAdviceForEachIsGivenOnce) {
  const Folder root;
  write(root / "proc/72/comm", "nsys\n");
  write(root / "proc/73/comm", "ncu\n");
  write(root / "proc/74/comm", "nv-hostengine\n");
  const std::string advice = state_in(root, "other profilers").advice;
  EXPECT_THAT(advice, HasSubstr("only one profiler can use CUPTI"));
  EXPECT_THAT(advice, HasSubstr("DCGM sometimes uses"));
  EXPECT_EQ(advice.find("only one profiler"), advice.rfind("only one profiler"));
}

TEST(GpuState, FaultsOfTheCuptiThatWouldBeUsedAreSaid) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const auto faults = [](const char* number) {
    const Variable version{"STANDIN_CUPTI_VERSION", number};
    return state_of("CUPTI bugs");
  };
  EXPECT_THAT(faults("22").found, HasSubstr("loses kernels"));
  EXPECT_THAT(faults("130001").advice, HasSubstr("--cuda-graphs graph"));
  EXPECT_THAT(faults("130100").advice, HasSubstr("--window or --duration"));
  EXPECT_TRUE(faults("130401").good);
}

TEST(GpuState, PyTorchIsFoundInTheActiveEnvironment) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Folder environment;
  const Variable active{"VIRTUAL_ENV", environment.path().string()};
  const fs::path packages = environment / "lib/python3.11/site-packages";
  write(packages / "torch/version.py", "__version__ = '2.9.1+cu130'\ncuda: Optional[str] = '13.0'\n");
  EXPECT_EQ(state_of("PyTorch").found, "2.9.1+cu130 in " + packages.string());
  write(packages / "torch/version.py", "__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\n");
  EXPECT_THAT(state_of("PyTorch").found, HasSubstr("without CUDA"));
}

TEST(GpuState, PyTorchIsFoundBesideThePythonOnPath) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Folder environment;
  const Folder links;  // as ~/bin, with a link to the program of an environment
  const fs::path packages = environment / "lib/python3.11/site-packages";
  write(packages / "torch/version.py", "__version__ = '2.9.2+cpu'\n");
  write(environment / "bin/python3", "");
  fs::permissions(environment / "bin/python3", fs::perms::owner_all);
  fs::create_symlink(environment / "bin/python3", links / "python3");
  const Variable no_environment{"VIRTUAL_ENV", ""};
  const Variable no_conda{"CONDA_PREFIX", ""};
  for (const fs::path& folder : {environment / "bin", links.path()}) {
    const Variable path{"PATH", folder.string()};
    EXPECT_THAT(state_of("PyTorch").found, HasSubstr("2.9.2+cpu in " + packages.string())) << folder;
  }
}

TEST(GpuState, PermissionForCountersIsThatOfTheModuleOrOfThisProcess) {
  const Folder root;
  EXPECT_THAT(state_in(root, "GPU counters").found, HasSubstr("no NVIDIA kernel module"));
  write(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_TRUE(state_in(root, "GPU counters").good);
  write(root / "proc/driver/nvidia/params", "Mobile: 4294967295\nRmProfilingAdminOnly: 1\n");
  write(root / "proc/self/status", "Name:\trankscope\nCapEff:\t0000000000000000\n");
  const GpuState refused = state_in(root, "GPU counters");
  EXPECT_FALSE(refused.good);
  EXPECT_THAT(refused.advice, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  write(root / "proc/self/status", "CapEff:\t0000000000200000\n");
  EXPECT_THAT(state_in(root, "GPU counters").found, HasSubstr("here by CAP_SYS_ADMIN"));
  write(root / "proc/self/status", "CapEff:\t0000004000000000\n");
  write(root / "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Kernel Module  550.54.15  Sun\n");
  EXPECT_FALSE(state_in(root, "GPU counters").good) << "drivers take CAP_PERFMON from R565 on";
  write(root / "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Kernel Module  580.65.06  Sun\n");
  EXPECT_TRUE(state_in(root, "GPU counters").good);
}

TEST(GpuState, CountersWithoutCuptisHostLibraryAreNotGood) {
  const Folder root;
  write(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  const Variable needs{"STANDIN_PM_NEEDS_HOST", "1"};
  const GpuState state = state_in(root, "GPU counters");
  EXPECT_FALSE(state.good);
  EXPECT_THAT(state.found, HasSubstr("libnvperf_host.so was not found"));
}

TEST(GpuState, LimitsOfThisProcessAreRead) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto files = [] {
    const auto states = host_states();
    const auto found = std::ranges::find(states, "open files", &GpuState::what);
    return found == states.end() ? GpuState{} : *found;
  };
  const rlimit few{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_FALSE(files().good);
  EXPECT_EQ(files().found, "up to 100");
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(GpuState, EveryLineSaysWhatWasFoundAndWhatToDo) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  std::vector<GpuState> states = gpu_states();
  const std::vector<GpuState> more = host_states();
  states.insert(states.end(), more.begin(), more.end());
  for (const GpuState& state : states) {
    EXPECT_FALSE(state.found.empty()) << state.what;
    EXPECT_FALSE(state.advice.empty()) << state.what;
  }
}

}  // namespace
}  // namespace rankscope::collectors
