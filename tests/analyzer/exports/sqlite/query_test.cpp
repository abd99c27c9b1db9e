// SQL over the tables of a run.
#include "rankscope/analyzer/query.h"

#include <gmock/gmock.h>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<QueryDatabase> database_of(const char* text) {
  auto made = QueryDatabase::of(**run_from_text(text), {});
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

constexpr const char* kernels = "0 compute 0 100 gemm\n0 compute 200 500 gemm\n1 compute 0 30 relu\n";

TEST(Query, ReadsTheTablesOfTheRun) {
  const auto database = database_of(kernels);
  const auto answer = database->ask(
      "SELECT name, sum(duration_ns) AS ns, NULL FROM span_list GROUP BY name ORDER BY ns DESC", {}, 10, {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->columns, (std::vector<std::string>{"name", "ns", "NULL"}));
  ASSERT_EQ(answer->rows.size(), 2U);
  EXPECT_EQ(answer->rows[0], (std::vector<std::optional<std::string>>{"gemm", "400", std::nullopt}));
  EXPECT_FALSE(answer->cut);
}

TEST(Query, HasTheSelectionAsATable) {
  const auto database = database_of(kernels);
  for (const std::uint32_t row : {0U, 2U}) {
    const std::vector<SpanId> selection{SpanId{row}};
    const auto answer = database->ask("SELECT span_id FROM selection", selection, 10, {});
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->rows.size(), 1U) << "that of this query alone";
    EXPECT_EQ(answer->rows[0][0], std::to_string(row));
  }
}

TEST(Query, SaysThatThereAreMoreRows) {
  const auto answer = database_of(kernels)->ask("SELECT * FROM spans", {}, 2, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rows.size(), 2U);
  EXPECT_TRUE(answer->cut);
}

TEST(Query, RefusesWhatDoesNotOnlyRead) {
  const auto database = database_of(kernels);
  const auto why = [&database](const char* sql) {
    const auto answer = database->ask(sql, {}, 10, {});
    return answer ? std::string{"nothing"} : answer.error().message;
  };
  EXPECT_THAT(why("SELECT missing FROM spans"), HasSubstr("no such column: missing"));
  EXPECT_THAT(why("DELETE FROM spans"), HasSubstr("use SELECT"));
  EXPECT_THAT(why("SELECT 1; SELECT 2"), HasSubstr("only one statement"));
  EXPECT_THAT(why("  "), HasSubstr("type a query"));
  EXPECT_NE(why("ATTACH DATABASE ':memory:' AS other"), "nothing");
  EXPECT_EQ(why("SELECT 1;  "), "nothing");
  EXPECT_EQ(why("SELECT 1; -- of all ranks"), "nothing");
}

TEST(Query, RefusesWhatWouldStandInTheWayOfTheNextOne) {
  const auto database = database_of(kernels);
  const std::vector<SpanId> selection{SpanId{0}};
  for (const char* const sql : {"BEGIN", "SAVEPOINT here", "PRAGMA query_only = OFF"}) {
    const auto refused = database->ask(sql, {}, 10, {});
    ASSERT_FALSE(refused) << sql;
    EXPECT_THAT(refused.error().message, HasSubstr("use SELECT")) << sql;
    const auto next = database->ask("SELECT span_id FROM Selection", selection, 10, {});
    ASSERT_TRUE(next) << sql << ": " << next.error().message;
    EXPECT_EQ(next->rows.size(), 1U) << "the name of a table is in any case";
  }
}

TEST(Query, CanBeStopped) {
  const auto database = database_of(kernels);
  std::stop_source stop;
  stop.request_stop();
  const auto answer =
      database->ask("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", {}, 10,
                    stop.get_token());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the query was stopped");
}

}  // namespace
}  // namespace rankscope::analyzer
