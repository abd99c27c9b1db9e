// --device: what the program does where there is no GPU, or only something that claims to be one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trainer/program/cuda_part.h"
#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::AnyOfArray;
using ::testing::HasSubstr;
using ::testing::Not;

bool has_driver() { return access("/dev/nvidiactl", F_OK) == 0; }

#define NEEDS_A_MACHINE_WITHOUT_GPU() \
  if (has_driver()) GTEST_SKIP() << "this machine has a GPU"

/// Names of all libraries that the processes of a training have loaded.
std::string libraries_of(const std::string& options, std::vector<std::string> environment = {}) {
  const ScratchFolder folder;
  environment.insert(environment.end(), {"LD_DEBUG=files", "LD_DEBUG_OUTPUT=" + folder.path("ld")});
  const ProgramResult result = train(options, environment);
  EXPECT_EQ(result.status, 0) << result.err;
  std::ostringstream all;
  for (const auto& entry : std::filesystem::directory_iterator{folder.path()})
    all << std::ifstream{entry.path()}.rdbuf();
  return all.str();
}

const std::string driver_double = std::string{"LD_LIBRARY_PATH="} + RANKSCOPE_CUDA_DRIVER_DOUBLE;

TEST(TrainDevice, WithoutAGpuNothingOfCudaIsLoaded) {
  NEEDS_A_MACHINE_WITHOUT_GPU();
  const std::string loaded = libraries_of("--ranks 2 --steps 1 --pace off");
  EXPECT_THAT(loaded, HasSubstr("libtorch_cpu.so"));
  for (const char* library : {"libtorch_cuda", "librankscope_train_cuda", "libnccl"})
    EXPECT_THAT(loaded, Not(HasSubstr(library)));
}

TEST(TrainDevice, AGpuThatIsNotThereIsRefusedOnceAndBeforeTraining) {
  NEEDS_A_MACHINE_WITHOUT_GPU();
  const ProgramResult result = train("--ranks 3 --steps 1 --device cuda");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "rankscope-train: --device cuda: this process sees no NVIDIA GPU\n");
}

TEST(TrainDevice, ADriverThatDoesNotStartIsNamedAndTheCpuTaken) {
  NEEDS_A_MACHINE_WITHOUT_GPU();
  const std::vector<std::string> broken{driver_double, "RANKSCOPE_DOUBLE_CUDA_ERROR=803"};
  const ProgramResult result = train("--ranks 2 --steps 1 --pace off", broken);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("training on the CPU: the GPU driver cannot be initialized: the double was told to fail\n"));
  const ProgramResult refused = train("--steps 1 --device cuda", broken);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "rankscope-train: --device cuda: the GPU driver cannot be initialized: the double was told to fail\n");
}

TEST(TrainDevice, MoreRanksThanGpusTrainOnTheCpuAndThatIsSaid) {
  NEEDS_A_MACHINE_WITHOUT_GPU();
  const ProgramResult result = train("--ranks 3 --steps 1 --pace off", {driver_double});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("training on the CPU: 3 ranks with 1 GPU per rank: 3 GPUs are needed here, but there are 2"));
}

#ifdef RANKSCOPE_TRAIN_CUDA
TEST(TrainDevice, AGpuThatPyTorchCannotUseIsSaidAndTheCpuTaken) {
  NEEDS_A_MACHINE_WITHOUT_GPU();
  if (!missing_for(RANKSCOPE_TRAIN_CUDA).empty()) GTEST_SKIP() << "PyTorch is installed without its GPU libraries";
  const ProgramResult result = train("--parallel single --steps 1 --pace off", {driver_double});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("training on the CPU: "));
  EXPECT_THAT(result.out, Not(HasSubstr("cannot be loaded")));
  EXPECT_THAT(result.out, HasSubstr("done: 1 step in"));
  EXPECT_THAT(libraries_of("--parallel single --steps 1 --pace off", {driver_double}),
              HasSubstr("librankscope_train_cuda.so"));
}

TEST(TrainDevice, APyTorchWithoutItsGpuLibrariesIsSaidAndTheCpuTaken) {
  NEEDS_A_MACHINE_WITHOUT_GPU();
  const std::vector<std::string> missing = missing_for(RANKSCOPE_TRAIN_CUDA);
  if (missing.empty()) GTEST_SKIP() << "PyTorch has all of them";
  const ProgramResult result = train("--parallel single --steps 1 --pace off", {driver_double});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("training on the CPU: the trainer's CUDA part cannot be loaded: "));
  std::vector<::testing::Matcher<std::string>> named;
  for (const std::string& library : missing) named.emplace_back(HasSubstr(library));
  EXPECT_THAT(result.out, AnyOfArray(named));
  EXPECT_THAT(result.out, HasSubstr("install PyTorch with its CUDA libraries (scripts/setup --with-pytorch)"));
  EXPECT_THAT(result.out, HasSubstr("done: 1 step in"));
}
#endif

TEST(TrainDevice, OptionsOfGpusThatDoNotFitAreRefused) {
  const Refused all[]{{"--share-gpu", "--share-gpu needs --device cuda"},
                      {"--share-gpu --device cuda --parallel dp", "--share-gpu cannot be used with --parallel dp"},
                      {"--device tpu", "--device: tpu not in"}};
  for (const Refused& refused : all) {
    const ProgramResult result = train(refused.options);
    EXPECT_EQ(result.status, 2) << refused.options;
    EXPECT_THAT(result.err, HasSubstr(refused.sentence));
  }
}

#ifdef RANKSCOPE_TRAIN_CUDA
TEST(TrainCudaPart, ShowsOneFunctionAndLinksWhatTheProgramDoesNot) {
  const ProgramResult shown = run_program({"nm", "-D", "--defined-only", RANKSCOPE_TRAIN_CUDA});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(std::ranges::count(shown.out, '\n'), 1) << shown.out;
  EXPECT_THAT(shown.out, HasSubstr(" T rankscope_accelerator"));
  const ProgramResult needed = run_program({"readelf", "-d", RANKSCOPE_TRAIN_CUDA});
  EXPECT_THAT(needed.out, HasSubstr("[libtorch_cuda.so]"));
  EXPECT_THAT(needed.out, HasSubstr("[libc10_cuda.so]"));
  EXPECT_THAT(run_program({"readelf", "-d", RANKSCOPE_TRAIN}).out, Not(HasSubstr("cuda")));
}
#endif

}  // namespace
}  // namespace rankscope::testing
