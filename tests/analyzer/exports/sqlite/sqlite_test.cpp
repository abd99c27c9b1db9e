#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankscope/analyzer/export.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"
#include "support/sqlite_rows.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::read_file;
using testing::sqlite_rows;
using testing::TemporaryFolder;

Result<void> export_sqlite(const Run& run, const std::filesystem::path& out, const Progress& progress = {}) {
  for (const auto& row : exports()) {
    if (row.id == "sqlite") return row.write(run, out, progress);
  }
  return fail(ErrorKind::usage, "no export named sqlite");
}

const std::string two_ranks =
    "@run world_size=2 clock=same_host clock_error=1 origin_unix=1700000000123456789 meta.model=mlp\n"
    "@rank 0 pid=10 host=n0\n@rank 1 pid=11 host=n0\n@group dp 0,1\n@quality events_dropped 3\n"
    "0 step 0 1000 s index=4 shape=@\"[1,2]\" note=hello\n0 op 100 300 gemm\n0 comm 400 900 allreduce group=dp "
    "bytes=64\n"
    "1 step 0 1000 s index=4\n1 comm 700 900 allreduce group=dp bytes=64\n"
    "0 counter 10 1024.5 rss_bytes\n0 mark 30 checkpoint file=x\n"
    "0 runtime 310 320 launch\n0 compute 330 340 kernel\n@link launch 5 6\n";

/// A run exported into a folder of its own.
class Exported {
 public:
  explicit Exported(const std::string& run_text) {
    const auto run = run_from_text(run_text);
    EXPECT_TRUE(run) << run.error().message;
    const auto written = export_sqlite(**run, folder_ / "run.sqlite");
    EXPECT_TRUE(written) << written.error().message;
  }
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) const {
    return sqlite_rows(folder_ / "run.sqlite", sql);
  }

 private:
  TemporaryFolder folder_;
};

TEST(Sqlite, TheRunIsOneRow) {
  const Exported run{two_ranks};
  EXPECT_THAT(run.rows("SELECT * FROM run"), ElementsAre("rankscope|2|1700000000123456789|same_host|1|0|1000"));
  EXPECT_THAT(run.rows("SELECT * FROM run_metadata"), ElementsAre("model|mlp"));
  EXPECT_THAT(run.rows("PRAGMA user_version"), ElementsAre("1"));
}

TEST(Sqlite, AFactThatIsToldTwiceKeepsBothValues) {
  const Exported run{"@run meta.a=1 meta.a=2 meta.a=2 meta.b=3\n0 op 0 9 x\n"};
  EXPECT_THAT(run.rows("SELECT * FROM run_metadata ORDER BY key"), ElementsAre("a|1; 2", "b|3"));
}

TEST(Sqlite, SpansHaveTheirNamesTimesAndAttributes) {
  const Exported run{two_ranks};
  EXPECT_THAT(run.rows("SELECT rank, lane, kind, begin_ns, duration_ns, depth FROM span_list WHERE name = 'gemm'"),
              ElementsAre("0|main|op|100|200|1"));
  EXPECT_THAT(
      run.rows("SELECT key, value FROM attribute_list JOIN span_list ON span_id = id WHERE rank = 0 AND kind = 'step'"),
      ElementsAre("index|4", "shape|[1,2]", "note|hello"));
}

TEST(Sqlite, MembersOfAnOperationHaveWaitAndTransfer) {
  const Exported run{two_ranks};
  EXPECT_THAT(run.rows("SELECT rank, bytes, started_ns, finished_ns, wait_ns, transfer_ns, waited_for, operation_id "
                       "FROM collectives"),
              ElementsAre("0|64|400|900|300|200|1|0", "1|64|700|900|0|200|-|0"));
  EXPECT_THAT(run.rows("SELECT members, complete, first_rank, last_rank, wait_ns, transfer_ns FROM operations"),
              ElementsAre("2|1|0|1|300|200"));
}

TEST(Sqlite, StepsMarksLinksCountersAndLossesAreThere) {
  const Exported run{two_ranks};
  EXPECT_THAT(run.rows("SELECT step, begin_ns, end_ns, complete FROM steps"), ElementsAre("4|0|1000|1"));
  EXPECT_THAT(run.rows("SELECT rank, step FROM rank_steps"), ElementsAre("0|4", "1|4"));
  EXPECT_THAT(run.rows("SELECT time_ns, text FROM marks JOIN strings ON strings.id = name_id"),
              ElementsAre("30|checkpoint"));
  EXPECT_THAT(
      run.rows("SELECT source.name, target.name FROM links JOIN span_list AS source ON source.id = from_span_id "
               "JOIN span_list AS target ON target.id = to_span_id"),
      ElementsAre("launch|kernel"));
  EXPECT_THAT(run.rows("SELECT time_ns, value FROM samples"), ElementsAre("10|1024.5"));
  EXPECT_THAT(run.rows("SELECT counter, value, severity FROM quality"), ElementsAre("events_dropped|3|data_loss"));
}

TEST(Sqlite, WhatIsNotRecordedIsNull) {
  const Exported run{"@process - pid=7\n- op 0 10 a\n0 op 0 10 b\n"};
  EXPECT_THAT(run.rows("SELECT world_size, origin_unix_ns FROM run"), ElementsAre("-|-"));
  EXPECT_THAT(run.rows("SELECT clock_method, clock_error_ns FROM run"), ElementsAre("none|-"));
  EXPECT_THAT(run.rows("SELECT count(*) FROM processes WHERE rank IS NULL"), ElementsAre("1"));
  EXPECT_THAT(run.rows("SELECT * FROM operations"), IsEmpty());
}

TEST(Sqlite, AnEarlierFileIsReplacedAndACancelledExportLeavesIt) {
  const auto run = run_from_text(two_ranks);
  const TemporaryFolder folder;
  ASSERT_TRUE(export_sqlite(**run, folder / "run.sqlite"));
  ASSERT_TRUE(export_sqlite(**run, folder / "run.sqlite"));
  EXPECT_THAT(sqlite_rows(folder / "run.sqlite", "SELECT count(*) FROM run"), ElementsAre("1"));
  const auto before = read_file(folder / "run.sqlite");
  const auto cancelled = export_sqlite(**run, folder / "run.sqlite", [](double) { return false; });
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().kind, ErrorKind::cannot_write);
  EXPECT_EQ(read_file(folder / "run.sqlite"), before);
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(Sqlite, AFolderThatIsNotThereIsNamed) {
  const auto run = run_from_text(two_ranks);
  const TemporaryFolder folder;
  const auto written = export_sqlite(**run, folder.path() / "absent" / "run.sqlite");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_NE(written.error().message.find("absent"), std::string::npos);
}

/// The blocks marked sql of docs/sqlite.md.
std::vector<std::string> documented_queries() {
  const std::string text = read_file(std::filesystem::path{RANKSCOPE_DOCS} / "sqlite.md");
  std::vector<std::string> queries;
  const std::string open = "```sql\n";
  for (auto at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    queries.push_back(text.substr(at, text.find("```", at) - at));
  }
  return queries;
}

TEST(Sqlite, TheQueriesOfTheDocumentationAnswer) {
  const Exported run{two_ranks};
  const auto queries = documented_queries();
  ASSERT_EQ(queries.size(), 3U);
  EXPECT_THAT(run.rows(queries[0]),
              ElementsAre("0|step|1|0.001", "0|comm|1|0.0005", "0|op|1|0.0002", "0|compute|1|1.0e-05",
                          "0|runtime|1|1.0e-05", "1|step|1|0.001", "1|comm|1|0.0002"));
  EXPECT_THAT(run.rows(queries[1]), ElementsAre("1|1|0.0003"));
  EXPECT_THAT(run.rows(queries[2]), ElementsAre("4|0|0.001|0.0003", "4|1|0.001|0.0"));
}

TEST(Sqlite, EveryTableIsDocumented) {
  const Exported run{two_ranks};
  const std::string text = read_file(std::filesystem::path{RANKSCOPE_DOCS} / "sqlite.md");
  const auto tables = run.rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  ASSERT_FALSE(tables.empty());
  for (const auto& table : tables) EXPECT_NE(text.find("`" + table + "`"), std::string::npos) << table;
}

}  // namespace
}  // namespace rankscope::analyzer
