// record --hang-after on a job that hangs: what it says, writes and runs while the job goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramResult;
using testing::TemporaryFolder;

/// Of three ranks, rank 2 stops after a second; the job ends its ranks 9 s later.
ProgramResult record_hanging_job(const TemporaryFolder& folder, const std::string& path) {
  return testing::run_program(
      {RANKSCOPE_PROGRAM, "record", "--hang-after", "4", "--on-hang", ": > \"" + (folder / "alarm").string() + "\"",
       "--out", (folder / "run.rankscope").string(), "--", std::string{RANKSCOPE_TEST_PROGRAMS} + "/long_job", "3", "1",
       "300", "0", "0", "2", "9"},
      {"PATH=" + path});
}

TEST(HangAfter, NamesTheStuckRankWhileTheJobRunsAndKeepsVerdictAndStacks) {
  const TemporaryFolder folder;
  const std::filesystem::path tools = folder / "tools";
  std::filesystem::create_directory(tools);
  std::ofstream{tools / "py-spy"} << "#!/bin/sh\necho \"stacks by $*\"\n";
  chmod((tools / "py-spy").c_str(), 0755);
  const ProgramResult recorded = record_hanging_job(folder, tools.string() + ":/usr/bin:/bin");
  EXPECT_EQ(recorded.status, 1) << "as the job, which went on to its own end";
  EXPECT_THAT(recorded.err, HasSubstr("no rank has recorded anything for 4 s; the job may have hung"));
  EXPECT_THAT(recorded.err, HasSubstr("The job hangs."));
  EXPECT_THAT(recorded.err, HasSubstr("Rank 2 "));
  EXPECT_TRUE(std::filesystem::exists(folder / "alarm")) << "the command of --on-hang has run";
  const std::filesystem::path hang = folder / "run.rankscope" / "hang";
  EXPECT_THAT(testing::read_file(hang / "verdict.txt"), HasSubstr("Rank 2 "));
  EXPECT_THAT(testing::read_file(hang / "rank-2-stacks.txt"), HasSubstr("stacks by dump --native --pid "));
  EXPECT_FALSE(std::filesystem::exists(hang / "rank-0-stacks.txt")) << "it only waits";

  const ProgramResult judged = testing::run_program({RANKSCOPE_PROGRAM, "hang", (folder / "run.rankscope").string()});
  EXPECT_EQ(judged.status, 0) << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("The job hung."));
  EXPECT_THAT(judged.out, HasSubstr("Rank 2 is stuck outside of communication and never reached allreduce"));
  EXPECT_THAT(judged.out, HasSubstr("hang/rank-N-stacks.txt"));
}

TEST(HangAfter, SaysWhyThereAreNoStacks) {
  const TemporaryFolder folder;
  const ProgramResult recorded = record_hanging_job(folder, folder.path().string());
  EXPECT_THAT(recorded.err, HasSubstr("because neither py-spy nor gdb is installed"));
  EXPECT_THAT(recorded.err, HasSubstr("Rank 2 "));
  EXPECT_THAT(recorded.err, Not(HasSubstr("writes the stacks")));
}

}  // namespace
}  // namespace rankscope
