// Which libcupti is taken of several.
#include "cupti/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

#include "cupti/cuda_driver.h"
#include "recorded.h"

namespace rankscope::collectors::cupti {
namespace {

using namespace collectors::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string good = program("libcupti_standin.so");
const std::string crashes = program("libcupti_refused_standin.so");
const std::string older = program("libcupti_old_standin.so");
const std::string calls_driver = program("libcupti_driver_standin.so");
const std::string nowhere = "/nonexistent/libcupti.so.13";

Library first_of(const std::vector<std::string>& paths) { return load_first(paths); }

TEST(CuptiLibrary, OneThatIsRefusedIsLetGoAndTheNextOneTaken) {
  const Library library = first_of({nowhere, crashes, "libm.so.6", good});
  EXPECT_EQ(library.problem, "");
  EXPECT_EQ(library.path, good);
  EXPECT_EQ(library.version, 130001U);
  EXPECT_THAT(library.passed_over,
              AllOf(HasSubstr(crashes + ": the CUPTI of CUDA 13.0 (before Update 1) crashes programs"),
                    HasSubstr("libm.so.6: it lacks cuptiGetVersion")));
  EXPECT_EQ(dlopen(crashes.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "two in a process disturb each other";
}

TEST(CuptiLibrary, WhereAllAreRefusedTheReasonsOfAllAreTold) {
  const Variable version{"STANDIN_CUPTI_VERSION", "21"};
  const Library library = first_of({crashes, nowhere, good});
  EXPECT_EQ(library.path, "");
  EXPECT_THAT(library.problem, AllOf(HasSubstr(crashes + ": the CUPTI of CUDA 13.0 (before Update 1)"),
                                     HasSubstr(good + ": CUPTI 21 is older"), ::testing::Not(HasSubstr(nowhere))));
}

TEST(CuptiLibrary, WhereNoneCanBeLoadedTheLinkersReasonIsTold) {
  EXPECT_THAT(first_of({nowhere}).problem, AllOf(HasSubstr(nowhere), HasSubstr("RANKSCOPE_CUPTI")));
}

TEST(CuptiLibrary, WithoutADriverThatWorksOneThatCallsItIsNotAskedAnything) {
  for (const std::string& driver : {nowhere, good}) {  // none, and one without a device
    const Variable named{"RANKSCOPE_CUDA", driver};
    const Library library = first_of({calls_driver, older});
    EXPECT_EQ(library.path, older) << "the other one would have ended this process";
    EXPECT_THAT(library.passed_over,
                HasSubstr(calls_driver + ": the CUPTI of CUDA 13.2 and later needs a working driver"));
  }
}

TEST(CuptiLibrary, WithADriverThatWorksOneThatCallsItIsTaken) {
  const Variable works{"STANDIN_CUDA_WORKS", "1"};
  {
    const Variable named{"RANKSCOPE_CUDA", good};
    EXPECT_EQ(first_of({calls_driver}).version, 130200U);
  }
}

TEST(CuptiLibrary, WhileCudaIsBeingInitialisedOneThatCallsTheDriverNeedsADriverAndADevice) {
  {
    const Variable named{"RANKSCOPE_CUDA", nowhere};
    EXPECT_EQ(load_first(std::vector{calls_driver, older}, {}, Driver::being_initialised).path, older)
        << "the other one would have ended this process";
  }
  if (has_gpu_device()) GTEST_SKIP() << "this host has a GPU";
  const Variable named{"RANKSCOPE_CUDA", good};
  const Variable version{"STANDIN_CUDA_VERSION", "13020"};
  EXPECT_EQ(load_first(std::vector{calls_driver, older}, {}, Driver::being_initialised).path, older)
      << "a libcuda without the driver of the kernel";
}

TEST(CudaDriver, OfTheKernelIsSeenByItsDevice) {
  for (const char* const device : {"nvidiactl", "dxg"}) {
    const Folder root;
    EXPECT_FALSE(has_gpu_device(root.path()));
    fs::create_directory(root / "dev");
    const std::ofstream file{root / "dev" / device};
    EXPECT_TRUE(has_gpu_device(root.path())) << device;
  }
}

TEST(CudaDriver, ThatCrashesOrHangsDoesNotWork) {
  for (const char* const how : {"crashes", "hangs"}) {
    const Variable named{"RANKSCOPE_CUDA", good};
    const Variable works{"STANDIN_CUDA_WORKS", how};
    EXPECT_FALSE(driver_works(std::chrono::milliseconds{300})) << how;
  }
}

/// Two libraries of CUPTI beside a runtime of CUDA: what a recording of a process with it tells.
struct TwoLibraries {
  std::string of_13, of_12;
  std::string driver{};  ///< the library that is asked for the driver's version; else there is none
  std::string driver_version{};
};
Recorded record_beside_runtime(const TwoLibraries& two) {
  const Folder libraries;
  fs::copy_file(program("libnvperf_standin.so"), libraries / "libcudart.so.13");
  fs::copy_file(two.of_13, libraries / "libcupti.so.13");
  fs::copy_file(two.of_12, libraries / "libcupti.so.12");
  const Variable runtime{"STANDIN_CUDART", libraries / "libcudart.so.13"};
  const Variable named{"RANKSCOPE_CUPTI", ""};
  const Variable driver{"RANKSCOPE_CUDA", two.driver.empty() ? nowhere : two.driver};
  const Variable driver_version{"STANDIN_CUDA_VERSION", two.driver_version};
  const Folder folder;
  RecordOptions options{.command = {program("cupti_actor"), "nothing"}};
  options.collect = "annotate,cupti";
  return record(folder, options);
}
std::string told_by(const Recorded& recorded, const char* key) {
  return recorded.run ? std::string{recorded.run->metadata(recorded.run->processes()[0], key)} : recorded.why;
}

TEST(CuptiLibrary, BesideARuntimeOfCudaTheUsableOneRecords) {
  const Recorded recorded = record_beside_runtime({.of_13 = crashes, .of_12 = good});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(told_by(recorded, "cupti_problem"), "");
  EXPECT_EQ(told_by(recorded, "cupti_library"), "libcupti.so.12");
  EXPECT_THAT(told_by(recorded, "cupti_passed_over"), HasSubstr("libcupti.so.13: the CUPTI of CUDA 13.0"));
}

TEST(CuptiLibrary, OneThatDoesNotWorkWithTheDriverIsFollowedByTheNextOne) {
  const Recorded recorded = record_beside_runtime({.of_13 = good, .of_12 = older, .driver_version = "12040"});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(told_by(recorded, "cupti_problem"), "");
  EXPECT_EQ(told_by(recorded, "cupti_library"), "libcupti.so.12");
  EXPECT_THAT(told_by(recorded, "cupti_passed_over"),
              HasSubstr("libcupti.so.13: CUPTI 130001 does not work with the driver of this host "
                        "(CUPTI_ERROR_NOT_INITIALIZED)"));
}

TEST(CuptiLibrary, ThatOfTheDriversCudaComesFirst) {
  const auto taken = [](const std::string& driver_version) {
    const Recorded recorded =
        record_beside_runtime({.of_13 = good, .of_12 = older, .driver = good, .driver_version = driver_version});
    EXPECT_EQ(told_by(recorded, "cupti_passed_over"), "");
    return told_by(recorded, "cupti_library");
  };
  EXPECT_EQ(taken("12080"), "libcupti.so.12");
  EXPECT_EQ(taken("13000"), "libcupti.so.13");
}

TEST(CuptiLibrary, WhereNoneWorksWithTheDriverAllAreTold) {
  const Library library = load_first(std::vector{good, older, crashes},
                                     [](const Library& one) { return "no driver for " + std::to_string(one.version); });
  EXPECT_EQ(library.path, "");
  EXPECT_THAT(library.problem,
              AllOf(HasSubstr(good + ": no driver for 130001"), HasSubstr(older + ": no driver for 22"),
                    HasSubstr(crashes + ": the CUPTI of CUDA 13.0 (before Update 1)")));
}

}  // namespace
}  // namespace rankscope::collectors::cupti
