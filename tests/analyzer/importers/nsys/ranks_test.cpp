// A rank is a process, and its number comes from evidence: never from the order of files.
#include "importers/nsys/ranks.h"

#include <gmock/gmock.h>

#include "importers/nsys/nsys_export.h"
#include "rankscope/core/model/run.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using namespace rankscope::testing;  // NOLINT: the builders of rows
using ::testing::AllOf;
using ::testing::HasSubstr;

using Files = std::vector<std::filesystem::path>;

/// pid -> rank of what was read.
std::map<std::int64_t, std::int64_t> ranks_by_pid(const Run& run) {
  std::map<std::int64_t, std::int64_t> ranks;
  for (const Process& process : run.processes())
    ranks[process.pid] = process.rank.is_set() ? static_cast<std::int64_t>(process.rank.value) : -1;
  return ranks;
}

using Ranks = std::map<std::int64_t, std::int64_t>;

ImportOptions with_map(std::map<std::string, std::uint32_t> map) {
  ImportOptions options;
  options.rank_map = std::move(map);
  return options;
}

void make(const std::filesystem::path& path, std::int64_t pid, const std::string& more = {}) {
  run_sql(path, modern_tables + insert(Kernel{.begin = 0, .end = 5, .pid = pid}) + more);
}

TEST(NsysRanks, FileNamesTellThem) {
  const TemporaryFolder folder;
  make(folder / "a_rank10.sqlite", 100);
  make(folder / "b_rank2.sqlite", 200);
  const auto run = nsys::read(Files{folder / "a_rank10.sqlite", folder / "b_rank2.sqlite"}, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 10}, {200, 2}}));
  EXPECT_EQ((*run)->quality().of(Counter::rank_unknown), 0U);
}

TEST(NsysRanks, TheLaunchersVariableTellsItAndNothingElseIsTakenFromThere) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100,
       "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE_0','LOCAL_RANK=1'),"
       "('PROCESS_0:ENVIRONMENT_VARIABLE_1','RANK=5'),('PROCESS_0:ENVIRONMENT_VARIABLE_2','WORLD_SIZE=8');");
  const auto run = read_export(folder / "a.sqlite");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 5}}));
  EXPECT_EQ((*run)->info().world_size, 8);
  EXPECT_FALSE((*run)->strings().find("RANK=5").is_set());
}

TEST(NsysRanks, MpiTellsThemInOneReportOfAllProcesses) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100,
       insert(Kernel{.begin = 0, .end = 5, .pid = 200, .device = 0, .name = 3}) +
           "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER); INSERT INTO MPI_RANKS VALUES (" +
           std::to_string(thread_id(100, 100)) + ",1),(" + std::to_string(thread_id(200, 200)) + ",0);");
  const auto run = read_export(folder / "a.sqlite");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 1}, {200, 0}}));
}

TEST(NsysRanks, OneProcessPerDeviceIsAGuessAndMarkedAsOne) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100, insert(Kernel{.begin = 0, .end = 5, .pid = 90, .device = 1}));
  const auto run = read_export(folder / "a.sqlite");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 0}, {90, 1}}));
  EXPECT_EQ((*run)->quality().of(Counter::rank_unknown), 2U);
}

TEST(NsysRanks, TheOnlyProcessIsRankZeroAndMarked) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100);
  const auto run = read_export(folder / "a.sqlite");
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 0}}));
  EXPECT_EQ((*run)->quality().of(Counter::rank_unknown), 1U);
}

TEST(NsysRanks, HelpersWithoutDeviceWorkHaveNoRank) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100, insert(Range{.begin = 0, .end = 3, .pid = 101, .text = "load"}));
  const auto run = read_export(folder / "a.sqlite");
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 0}, {101, -1}}));
}

TEST(NsysRanks, FilesThatNothingTellsApartAreRefusedByName) {
  const TemporaryFolder folder;
  make(folder / "report_1.sqlite", 100);
  make(folder / "report_2.sqlite", 200);
  const Files files{folder / "report_1.sqlite", folder / "report_2.sqlite"};
  const auto run = nsys::read(files, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::unreadable);
  EXPECT_THAT(run.error().message,
              AllOf(HasSubstr("report_1.sqlite"), HasSubstr("report_2.sqlite"), HasSubstr("--rank-map")));
  const auto mapped = nsys::read(files, with_map({{"report_1.sqlite", 3}, {"report_2.sqlite", 1}}));
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_EQ(ranks_by_pid(**mapped), (Ranks{{100, 3}, {200, 1}}));
}

TEST(NsysRanks, TwoThatClaimOneRankAreRefused) {
  const TemporaryFolder folder;
  make(folder / "x_rank1.sqlite", 100);
  make(folder / "y_rank1.sqlite", 200);
  const auto run = nsys::read(Files{folder / "x_rank1.sqlite", folder / "y_rank1.sqlite"}, {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message,
              AllOf(HasSubstr("x_rank1.sqlite"), HasSubstr("y_rank1.sqlite"), HasSubstr("rank 1")));
}

TEST(NsysRanks, AMapNamesProcessesWhereAFileHoldsSeveral) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100, insert(Kernel{.begin = 0, .end = 5, .pid = 90, .device = 1}));
  const auto run = read_export(folder / "a.sqlite", with_map({{"a.sqlite:100", 7}, {"a.sqlite:90", 6}}));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(ranks_by_pid(**run), (Ranks{{100, 7}, {90, 6}}));
  const auto coarse = read_export(folder / "a.sqlite", with_map({{"a.sqlite", 7}}));
  ASSERT_FALSE(coarse);
  EXPECT_EQ(coarse.error().kind, ErrorKind::usage);
  const auto unknown = read_export(folder / "a.sqlite", with_map({{"b.sqlite", 7}}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
}

TEST(NsysRanks, ProcessesThatNothingTellsApartAreListedSoThatAMapCanBeWritten) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100,
       insert(Kernel{.begin = 0, .end = 5, .pid = 90}) + "INSERT INTO PROCESSES VALUES (" +
           std::to_string(process_id(100)) + ",100,'/usr/bin/python3.11')," + "(" + std::to_string(process_id(90)) +
           ",90,'train');");
  const auto run = read_export(folder / "a.sqlite");
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, AllOf(HasSubstr("a.sqlite:90 (train), a.sqlite:100 (python3.11)"),
                                         HasSubstr("--rank-map FILE:PID=RANK")));
  const auto mapped = read_export(folder / "a.sqlite", with_map({{"a.sqlite:100", 0}, {"a.sqlite:90", 1}}));
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_EQ(ranks_by_pid(**mapped), (Ranks{{100, 0}, {90, 1}}));
}

TEST(NsysRanks, AMapBeyondTheSizeOfTheJobIsRefused) {
  const TemporaryFolder folder;
  make(folder / "a.sqlite", 100,
       "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE_0','RANK=1'),"
       "('PROCESS_0:ENVIRONMENT_VARIABLE_1','WORLD_SIZE=2');");
  const auto run = read_export(folder / "a.sqlite", with_map({{(folder / "a.sqlite").string(), 2}}));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
  EXPECT_THAT(run.error().message, HasSubstr("a.sqlite is given rank 2, but the job has 2 ranks (0 to 1)"));
}

}  // namespace
}  // namespace rankscope::analyzer
