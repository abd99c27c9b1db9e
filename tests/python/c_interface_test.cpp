// The C interface by itself, so that the sanitizers see it: tables as Arrow, errors, tasks, and what is freed when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "rankscope/python/rankscope.h"

namespace {

using ::testing::HasSubstr;

/// A text of the interface, freed.
std::string taken(char* text) {
  const std::string copy = text == nullptr ? "" : text;
  rankscope_free(text);
  return copy;
}

rankscope_run* run_of(std::string_view text) {
  rankscope_run* run = nullptr;
  char* message = nullptr;
  EXPECT_EQ(rankscope_open_text(text.data(), static_cast<std::int64_t>(text.size()), nullptr, &run, &message), 0)
      << taken(message);
  return run;
}

rankscope_table* table_of(rankscope_run* run, const char* request) {
  rankscope_table* table = nullptr;
  char* message = nullptr;
  EXPECT_EQ(rankscope_read_table(run, request, &table, &message), 0) << taken(message);
  return table;
}

/// All rows of a table; the caller releases it.
ArrowArray rows_of(const rankscope_table* table) {
  ArrowArrayStream stream{};
  char* message = nullptr;
  EXPECT_EQ(rankscope_table_stream(table, &stream, &message), 0) << taken(message);
  ArrowArray rows{};
  ArrowArray end{};
  EXPECT_EQ(stream.get_next(&stream, &rows), 0);
  EXPECT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  EXPECT_EQ(stream.get_last_error(&stream), nullptr);
  stream.release(&stream);
  return rows;
}

TEST(CInterface, RowsOutliveTheirTableAndTheirRun) {
  rankscope_run* const run = run_of("0 op 5 10 a\n0 op 10 20 b\n");
  rankscope_table* const table = table_of(run, R"({"table": "spans", "columns": ["begin_ns", "name"]})");
  EXPECT_EQ(rankscope_table_rows(table), 2);
  ArrowArray rows = rows_of(table);
  rankscope_table_close(table);
  rankscope_close(run);
  ASSERT_EQ(rows.n_children, 2);
  const auto* const begins = static_cast<const std::int64_t*>(rows.children[0]->buffers[1]);
  EXPECT_EQ(begins[0], 5);
  EXPECT_EQ(begins[1], 10);
  EXPECT_EQ(rows.children[1]->dictionary->length, 2);
  rows.release(&rows);
}

TEST(CInterface, ColumnsThatWereTakenOutAreReleasedByTheirTaker) {
  rankscope_run* const run = run_of("0 op 5 10 a\n");
  rankscope_table* const table = table_of(run, R"({"table": "spans", "columns": ["begin_ns", "name"]})");
  ArrowArray rows = rows_of(table);
  rankscope_table_close(table);
  rankscope_close(run);
  ArrowArray name = *rows.children[1];
  rows.children[1]->release = nullptr;
  rows.release(&rows);
  EXPECT_EQ(static_cast<const std::int32_t*>(name.buffers[1])[0], 0);
  name.release(&name);
}

TEST(CInterface, StringsThatAreAlikeAfterRepairAreOne) {
  rankscope_run* const run = run_of("0 op 0 10 a\xff\n0 op 10 20 a\xfe\n0 op 20 30 c\n");
  rankscope_table* const table = table_of(run, R"({"table": "spans", "columns": ["name"]})");
  ArrowArray rows = rows_of(table);
  EXPECT_EQ(rows.children[0]->dictionary->length, 2);
  const auto* const places = static_cast<const std::int32_t*>(rows.children[0]->buffers[1]);
  EXPECT_EQ(places[0], places[1]);
  EXPECT_NE(places[0], places[2]);
  rows.release(&rows);
  rankscope_table_close(table);
  rankscope_close(run);
}

TEST(CInterface, FirstRowsAreAsManyAsAskedFor) {
  rankscope_run* const run = run_of("0 op 0 10 a\n0 op 10 20 b\n0 op 20 30 c\n");
  rankscope_table* const table = table_of(run, R"({"table": "spans", "first": 2})");
  EXPECT_EQ(rankscope_table_rows(table), 2);
  rankscope_table_close(table);
  rankscope_close(run);
}

TEST(CInterface, AStoppedTaskEndsTheReading) {
  rankscope_task task{.stop = 1, .done = 0};
  rankscope_run* run = nullptr;
  char* message = nullptr;
  const std::string text = "0 op 0 10 a\n";
  EXPECT_EQ(rankscope_open_text(text.data(), static_cast<std::int64_t>(text.size()), &task, &run, &message), 3);
  EXPECT_THAT(taken(message), HasSubstr("cancelled"));
  EXPECT_EQ(run, nullptr);
}

TEST(CInterface, WrongRequestsAreSentences) {
  rankscope_run* const run = run_of("0 op 0 10 a\n");
  for (const char* request : {"", "[]", "{", R"({"table": 7})", R"({"tabel": "spans"})", R"({"table": "x"})",
                              R"({"table": "spans", "first": 0})", R"({"table": "spans", "ranks": [9]})"}) {
    rankscope_table* table = nullptr;
    char* message = nullptr;
    EXPECT_EQ(rankscope_read_table(run, request, &table, &message), 2) << request;
    EXPECT_FALSE(taken(message).empty()) << request;
    EXPECT_EQ(table, nullptr);
  }
  rankscope_close(run);
}

TEST(CInterface, TablesSayWhatChoosesTheirRows) {
  const std::string all = taken(rankscope_tables());
  EXPECT_THAT(all, HasSubstr(R"("name":"lanes","row":"a thread, stream or queue","chosen_by":["ranks"])"));
}

}  // namespace
