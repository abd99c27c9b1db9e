// The library lives inside programs of others: it must not get in their way.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), size);
  pclose(pipe);
  return text;
}

TEST(EntryPoints, AreAllThatTheLibraryExports) {
  std::istringstream lines{output_of("nm -D --defined-only " RANKSCOPE_TEST_LIBRARY)};
  std::vector<std::string> names;
  for (std::string address, type, name; lines >> address >> type >> name;) names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("InitializeInjection", "InitializeInjectionNvtx",
                                                     "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                                                     "ncclProfiler_v1", "ncclProfiler_v2", "ncclProfiler_v3",
                                                     "ncclProfiler_v4", "ncclProfiler_v5", "ncclProfiler_v6",
                                                     "ncclProfiler_v7", "rankscope_api", "__itt_api_init"));
}

TEST(EntryPoints, TheLibraryBringsItsOwnCppLibraryAndNeedsNoCuda) {
  std::istringstream lines{output_of("readelf -d " RANKSCOPE_TEST_LIBRARY)};
  std::vector<std::string> needed;
  bool stays = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") != line.npos) needed.push_back(line.substr(line.find('[')));
    stays = stays || line.find("NODELETE") != line.npos;
  }
  EXPECT_THAT(needed, ::testing::Each(::testing::AnyOf("[libc.so.6]", "[libm.so.6]", "[ld-linux-x86-64.so.2]",
                                                       "[ld-linux-aarch64.so.1]", ::testing::HasSubstr("san.so"))));
  EXPECT_TRUE(stays);
}

std::string stub_of_driver() {
  for (const char* path : {"/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so"})
    if (fs::exists(path)) return path;
  return {};
}

TEST(EntryPoints, AProgramThatLoadsTheDriversStubPrintsWhatItPrintsWithoutTheRecorder) {
  const std::string stub = stub_of_driver();
  if (stub.empty()) GTEST_SKIP() << "no CUDA toolkit with lib64/stubs/libcuda.so";
  const std::string command = program("driver_user") + " " + stub;
  const std::string alone = output_of(command + " 2>&1");
  ASSERT_FALSE(alone.empty());
  const Folder folder;
  const std::string text = (folder / "out").string();
  const Recorded recorded = record(folder, {"/bin/sh", "-c", command + " > " + text + " 2>&1"});
  EXPECT_EQ(recorded.status, 0);
  std::ostringstream with_recorder;
  with_recorder << std::ifstream{text}.rdbuf();
  EXPECT_EQ(with_recorder.str(), alone);
}

}  // namespace
}  // namespace rankscope::collectors
