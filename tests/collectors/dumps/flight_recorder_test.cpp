#include "dumps/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::map<std::string, std::string> variables_with(const char* set, const std::filesystem::path& spool) {
  const Lookup lookup = [set](const char* name) {
    return set != nullptr && std::string_view{name} == set ? "7" : nullptr;
  };
  const auto list = flight_recorder_variables(lookup, spool);
  return {list.begin(), list.end()};
}

TEST(FlightRecorder, IsSwitchedOnUnderBothNames) {
  const rankscope::testing::TemporaryFolder spool;
  const auto variables = variables_with(nullptr, spool.path());
  EXPECT_EQ(variables.at("TORCH_FR_BUFFER_SIZE"), "2000");
  EXPECT_EQ(variables.at("TORCH_NCCL_TRACE_BUFFER_SIZE"), "2000");
  EXPECT_EQ(variables.at("TORCH_NCCL_DUMP_ON_TIMEOUT"), "1");
  EXPECT_THAT(variables.at("TORCH_FR_DUMP_TEMP_FILE"), HasSubstr(spool.path().string()));
}

TEST(FlightRecorder, WhatTheUserSetStays) {
  const rankscope::testing::TemporaryFolder spool;
  for (const char* const name : {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}) {
    const auto variables = variables_with(name, spool.path());
    EXPECT_FALSE(variables.contains("TORCH_FR_BUFFER_SIZE")) << name;
    EXPECT_FALSE(variables.contains("TORCH_NCCL_TRACE_BUFFER_SIZE")) << name;
    EXPECT_TRUE(variables.contains("TORCH_NCCL_DUMP_ON_TIMEOUT")) << name;
  }
}

TEST(FlightRecorder, InAContainerThatCannotReachTheSpoolTheDumpsStayWherePyTorchWritesThem) {
  const auto variables = variables_with(nullptr, {});
  EXPECT_TRUE(variables.contains("TORCH_NCCL_DUMP_ON_TIMEOUT"));
  EXPECT_FALSE(variables.contains("TORCH_FR_DUMP_TEMP_FILE"));
  EXPECT_FALSE(variables.contains("TORCH_NCCL_DEBUG_INFO_TEMP_FILE"));
}

TEST(FlightRecorder, DumpsThatCannotBeCopiedAreAnErrorSoThatTheSpoolIsKept) {
  const rankscope::testing::TemporaryFolder spool;
  const rankscope::testing::TemporaryFolder out;
  std::filesystem::create_directory(spool / flight_recorder_folder);
  std::ofstream{spool.path() / flight_recorder_folder / "nccl_trace_rank_3"} << "dump";
  std::ofstream{out.path() / flight_recorder_folder} << "a file where the folder should be";
  const auto gathered = gather_dumps(spool.path(), out.path());
  ASSERT_FALSE(gathered);
  EXPECT_EQ(gathered.error().kind, ErrorKind::cannot_write);
}

TEST(FlightRecorder, DumpsAreGathered) {
  const rankscope::testing::TemporaryFolder spool;
  const rankscope::testing::TemporaryFolder out;
  EXPECT_THAT(gather_dumps(spool.path(), out.path()).value(), IsEmpty());
  std::filesystem::create_directory(spool / flight_recorder_folder);
  std::ofstream{spool.path() / flight_recorder_folder / "nccl_trace_rank_3"} << "dump";
  EXPECT_THAT(gather_dumps(spool.path(), out.path()).value(), HasSubstr("1 dump"));
  EXPECT_EQ(rankscope::testing::read_file(out.path() / flight_recorder_folder / "nccl_trace_rank_3"), "dump");
}

}  // namespace
}  // namespace rankscope::collectors
