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
  RS_TRY(const Request request, Request::parse(request_text, {"table", "steps", "ranks", "columns"}));
  RS_TRY(const auto name, request.text("table", ""));
  analyzer::TableChoice choice;
  RS_TRY(choice.steps, request.steps());
  RS_TRY(choice.ranks, request.ranks());
  RS_TRY(choice.columns, request.texts("columns"));
  RS_TRY(auto data, tables.read(name, choice));
  return arrow_table(std::move(data), tables.run());
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
    all.push_back({{"name", table.name}, {"row", table.row}, {"columns", std::move(columns)}});
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

void rankscope_table_stream(const rankscope_table* table, ArrowArrayStream* stream) {
  rankscope::python::make_stream(table->shared, *stream);
}

void rankscope_table_close(rankscope_table* table) { delete table; }

char* rankscope_tables() { return rankscope::python::copy_of(rankscope::python::tables_as_json()); }
