// Which libcupti is taken of several.
#include "cupti/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "recorded.h"

namespace rankscope::collectors::cupti {
namespace {

using namespace collectors::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string good = program("libcupti_standin.so");
const std::string crashes = program("libcupti_refused_standin.so");
const std::string nowhere = "/nonexistent/libcupti.so.13";

Library first_of(const std::vector<std::string>& paths) { return load_first(paths); }

TEST(CuptiLibrary, OneThatIsRefusedIsLetGoAndTheNextOneTaken) {
  const Library library = first_of({nowhere, crashes, "libm.so.6", good});
  EXPECT_EQ(library.problem, "");
  EXPECT_EQ(library.path, good);
  EXPECT_EQ(library.version, 130001U);
  EXPECT_THAT(library.passed_over,
              AllOf(HasSubstr(crashes + ": the CUPTI of CUDA 13.0 without updates crashes programs"),
                    HasSubstr("libm.so.6: it lacks cuptiGetVersion")));
  EXPECT_EQ(dlopen(crashes.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "two in a process disturb each other";
}

TEST(CuptiLibrary, WhereAllAreRefusedTheReasonsOfAllAreTold) {
  const Variable version{"STANDIN_CUPTI_VERSION", "21"};
  const Library library = first_of({crashes, nowhere, good});
  EXPECT_EQ(library.path, "");
  EXPECT_THAT(library.problem, AllOf(HasSubstr(crashes + ": the CUPTI of CUDA 13.0 without updates"),
                                     HasSubstr(good + ": CUPTI 21 is older"), ::testing::Not(HasSubstr(nowhere))));
}

TEST(CuptiLibrary, WhereNoneCanBeLoadedTheLinkersReasonIsTold) {
  EXPECT_THAT(first_of({nowhere}).problem, AllOf(HasSubstr(nowhere), HasSubstr("RANKSCOPE_CUPTI")));
}

TEST(CuptiLibrary, BesideARuntimeOfCudaTheUsableOneRecords) {
  const Folder libraries;
  fs::copy_file(program("libnvperf_standin.so"), libraries / "libcudart.so.13");
  fs::copy_file(crashes, libraries / "libcupti.so.13");
  fs::copy_file(good, libraries / "libcupti.so.12");
  const Variable runtime{"STANDIN_CUDART", libraries / "libcudart.so.13"};
  const Variable named{"RANKSCOPE_CUPTI", ""};
  const Folder folder;
  RecordOptions options{.command = {program("cupti_actor"), "nothing"}};
  options.collect = "annotate,cupti";
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto told = [&](const char* key) {
    return std::string{recorded.run->metadata(recorded.run->processes()[0], key)};
  };
  EXPECT_EQ(told("cupti_problem"), "");
  EXPECT_EQ(told("cupti_library"), "libcupti.so.12");
  EXPECT_THAT(told("cupti_passed_over"), HasSubstr("libcupti.so.13: the CUPTI of CUDA 13.0"));
}

}  // namespace
}  // namespace rankscope::collectors::cupti
