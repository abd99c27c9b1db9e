// Tables as streams of Arrow.
#include <nlohmann/json.hpp>

#include "arrow/stream.h"
#include "calls/border.h"
#include "calls/request.h"

/// Columns that were read once.
struct rankscope_table {
  std::shared_ptr<const rankscope::python::ArrowTable> shared;
};

namespace rankscope::python {
namespace {

Result<std::shared_ptr<const ArrowTable>> read_table(analyzer::RunTables& tables, const char* request_text) {
  RS_TRY(const Request request, Request::parse(request_text, {"table", "steps", "ranks", "columns", "first"}));
  RS_TRY(const auto name, request.text("table", ""));
  analyzer::TableChoice choice;
  RS_TRY(choice.steps, request.steps());
  RS_TRY(choice.ranks, request.ranks());
  RS_TRY(choice.columns, request.texts("columns"));
  RS_TRY(const auto first, request.number("first", 1, 1e15));
  if (first) choice.first = static_cast<std::size_t>(*first);
  RS_TRY(auto data, tables.read(name, choice));
  return arrow_table(std::move(data), tables.run());
}

nlohmann::ordered_json chosen_by(const analyzer::TableDescription& table) {
  using analyzer::RowChoice;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (table.choice == RowChoice::ranks || table.choice == RowChoice::ranks_and_steps) all.push_back("ranks");
  if (table.choice == RowChoice::steps || table.choice == RowChoice::ranks_and_steps) all.push_back("steps");
  return all;
}

std::string tables_as_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const analyzer::TableDescription& table : analyzer::table_descriptions()) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::array();
    for (const analyzer::ColumnDescription& column : table.columns)
      if (column.place != analyzer::ColumnPlace::sqlite)
        columns.push_back({{"name", column.arrow_name()},
                           {"type", name_of(column.type)},
                           {"nulls", column.nulls == analyzer::Nulls::possible}});
    all.push_back(
        {{"name", table.name}, {"row", table.row}, {"chosen_by", chosen_by(table)}, {"columns", std::move(columns)}});
  }
  return all.dump();
}

}  // namespace
}  // namespace rankscope::python

std::int32_t rankscope_read_table(rankscope_run* run, const char* request, rankscope_table** table, char** message) {
  return rankscope::python::guarded(message, [&]() -> rankscope::Result<void> {
    const std::scoped_lock lock{run->in_use};
    RS_TRY(auto shared, rankscope::python::read_table(run->tables, request));
    *table = new rankscope_table{std::move(shared)};
    return {};
  });
}

std::int64_t rankscope_table_rows(const rankscope_table* table) {
  return static_cast<std::int64_t>(table->shared->data.rows());
}

std::int32_t rankscope_table_stream(const rankscope_table* table, ArrowArrayStream* stream, char** message) {
  return rankscope::python::guarded(message, [&]() -> rankscope::Result<void> {
    rankscope::python::make_stream(table->shared, *stream);
    return {};
  });
}

void rankscope_table_close(rankscope_table* table) { delete table; }

char* rankscope_tables() {
  char* text = nullptr;
  char* message = nullptr;
  const std::int32_t status = rankscope::python::guarded(&message, [&]() -> rankscope::Result<void> {
    text = rankscope::python::copy_of(rankscope::python::tables_as_json());
    return {};
  });
  rankscope_free(message);
  return status == 0 ? text : nullptr;
}
