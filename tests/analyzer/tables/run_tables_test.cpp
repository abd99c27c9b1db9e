#include "rankscope/analyzer/tables/run_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunTables tables_of(const std::string& text) {
  auto run = run_from_text(text);
  EXPECT_TRUE(run) << run.error().message;
  return RunTables{*run};
}

const std::string two_steps =
    "@run world_size=2 clock=same_host clock_error=1\n@rank 0 host=a\n@rank 1 host=a\n@group dp 0,1\n"
    "0 step 0 1000 s index=4\n0 op 100 300 gemm\n0 step 1000 2000 s index=5\n0 op 1100 1300 gemm\n"
    "1 step 0 1000 s index=4\n1 step 1000 2000 s index=5\n"
    "0 comm 400 900 allreduce group=dp\n1 comm 700 900 allreduce group=dp\n";

TEST(RunTables, AColumnWithoutMissingValuesHasNoBitmap) {
  const auto spans = tables_of(two_steps).read("spans", {.steps = {}, .ranks = {}, .columns = {"begin_ns"}});
  ASSERT_TRUE(spans) << spans.error().message;
  EXPECT_THAT(spans->columns.front().whole(), ElementsAre(0, 100, 1000, 1100, 400, 0, 1000, 700));
  EXPECT_THAT(spans->columns.front().valid(), IsEmpty());
}

TEST(RunTables, MissingValuesAreMarkedBitByBit) {
  ColumnDescription description{.name = "x", .nulls = Nulls::possible};
  ColumnData column{description};
  for (std::int64_t i = 0; i < 20; ++i) i % 3 == 0 ? column.add(std::nullopt) : column.add(i);
  EXPECT_EQ(column.rows(), 20U);
  EXPECT_EQ(column.missing(), 7U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(column.has(i), i % 3 != 0) << i;
}

TEST(RunTables, FlagsArePackedLeastSignificantBitFirst) {
  ColumnDescription description{.name = "x", .type = ColumnType::flag};
  ColumnData column{description};
  for (int i = 0; i < 9; ++i) column.add(i == 1 || i == 8);
  EXPECT_THAT(column.flags(), ElementsAre(2, 1));
}

TEST(RunTables, TheFirstRowsAreThoseOfTheWholeTable) {
  RunTables tables = tables_of(two_steps);
  const auto some = tables.read("spans", {.steps = {}, .ranks = {}, .columns = {"name", "collective_id"}, .first = 5});
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_EQ(some->rows(), 5U);
  EXPECT_EQ(some->columns[1].missing(), 4U);  // the fifth is the first collective
  EXPECT_TRUE(some->columns[1].has(4));
  EXPECT_FALSE(some->columns[1].has(3));
  const auto all = tables.read("spans", {.steps = {}, .ranks = {}, .columns = {"name"}, .first = 100});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->rows(), 8U);
}

TEST(RunTables, TruncatedColumnsOfEveryTypeKeepTheirFirstValues) {
  for (const ColumnType type : {ColumnType::whole, ColumnType::small}) {
    ColumnDescription description{.name = "x", .type = type, .nulls = Nulls::possible};
    ColumnData column{description};
    for (std::int64_t i = 0; i < 20; ++i) i == 3 || i == 12 ? column.add(std::nullopt) : column.add(i);
    column.truncate(10);
    EXPECT_EQ(column.rows(), 10U);
    EXPECT_EQ(column.missing(), 1U);
    column.add(std::int64_t{7});
    EXPECT_TRUE(column.has(10));
  }
  ColumnDescription description{.name = "x", .type = ColumnType::text};
  ColumnData texts{description};
  for (const char* text : {"ab", "c", "def"}) texts.add(std::string_view{text});
  texts.truncate(2);
  EXPECT_EQ(texts.characters(), "abc");
}

TEST(RunTables, ANumberThatIsTooLargeForItsColumnIsAnErrorAndNoAbort) {
  ColumnDescription description{.name = "x", .type = ColumnType::small};
  ColumnData column{description};
  column.add(std::int64_t{2147483647});
  EXPECT_TRUE(column.fits());
  column.add(std::int64_t{2147483648});
  EXPECT_FALSE(column.fits());
  RunBuilder builder;
  Process process;
  process.rank = RankId{3'000'000'000};
  builder.add_span(builder.add_lane(builder.add_process(std::move(process)), LaneKind::thread, "main", 0), SpanKind::op,
                   builder.intern("a"), {at(0), at(10)});
  auto run = std::move(builder).build();
  ASSERT_TRUE(run) << run.error().message;
  const auto processes = RunTables{*run}.read("processes", {});
  ASSERT_FALSE(processes);
  EXPECT_EQ(processes.error().kind, ErrorKind::unreadable);
  EXPECT_THAT(processes.error().message, HasSubstr("column rank"));
}

TEST(RunTables, RowsOfChosenRanksAndSteps) {
  RunTables tables = tables_of(two_steps);
  const auto spans = tables.read("spans", {.steps = StepRange{5, to_the_end}, .ranks = {RankId{0}}, .columns = {"id"}});
  ASSERT_TRUE(spans) << spans.error().message;
  EXPECT_THAT(spans->columns.front().whole(), ElementsAre(2, 3));
  const auto times =
      tables.read("rank_step_times", {.steps = StepRange{4, 4}, .ranks = {}, .columns = {"rank", "own_ns"}});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_THAT(times->columns[0].small(), ElementsAre(0, 1));
}

TEST(RunTables, AChoiceThatATableCannotFollowIsRefused) {
  const auto strings = tables_of(two_steps).read("strings", {.steps = {}, .ranks = {RankId{0}}, .columns = {}});
  ASSERT_FALSE(strings);
  EXPECT_EQ(strings.error().kind, ErrorKind::usage);
  EXPECT_THAT(strings.error().message, HasSubstr("table strings"));
}

TEST(RunTables, ATableThatCannotBeComputedSaysWhyAndIsListedAsMissing) {
  RunTables tables = tables_of("0 op 0 10 a\n");
  const auto steps = tables.read("steps", {});
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().kind, ErrorKind::not_computable);
  const auto missing = tables.read("missing", {});
  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_THAT(missing->columns[0].words(), ::testing::Contains("steps"));
}

TEST(RunTables, EveryTableIsDescribedOnceAndMade) {
  RunTables tables = tables_of(two_steps);
  for (const TableDescription& table : table_descriptions()) {
    EXPECT_EQ(find_table(table.name), &table);
    const auto data = tables.read(table.name, {});
    if (!data) {
      EXPECT_EQ(data.error().kind, ErrorKind::not_computable) << table.name;
    }
  }
}

}  // namespace
}  // namespace rankscope::analyzer
