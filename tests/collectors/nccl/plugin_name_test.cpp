// How NCCL is told where its profiler plugin is.
#include <gmock/gmock.h>

#include <fstream>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

struct Found {
  int status = -1;   ///< 0: the version found a plugin
  std::string told;  ///< by the variable
};

Found find_as(const std::string& version) {
  const Folder folder;
  const std::string said = (folder / "said").string();
  const Recorded recorded =
      record(folder, {"/bin/sh", "-c", "exec \"$0\" \"$1\" >\"$2\"", program("nccl_finder"), version, said});
  Found found{recorded.status, {}};
  std::ifstream{said} >> found.told;
  return found;
}

TEST(NcclPluginName, AVersionThatTakesNoPathFindsThePluginByItsName) {
  const Found found = find_as("22703");
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.told, fs::path{RANKSCOPE_TEST_LIBRARY}.filename());
}

TEST(NcclPluginName, OtherVersionsGetThePath) {
  for (const char* const version : {"22605", "22705", "22809"})
    EXPECT_EQ(find_as(version).told, RANKSCOPE_TEST_LIBRARY);
}

TEST(NcclPluginName, APluginOfTheUserKeepsItsPath) {
  const Variable theirs{"NCCL_PROFILER_PLUGIN", "/opt/libinspector.so"};
  EXPECT_EQ(find_as("22703").told, "/opt/libinspector.so");
}

}  // namespace
}  // namespace rankscope::collectors
