#include <algorithm>
#include <vector>

#include "exports/shared/formats.h"
#include "exports/shared/output_place.h"
#include "exports/sqlite/database.h"
#include "exports/sqlite/tables.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "tables/rows.h"

namespace rankscope::analyzer {
namespace {

/// docs/sqlite.md: a column that changes its meaning or goes raises it.
constexpr const char* sqlite_head = "PRAGMA application_id = 0x526B5363; PRAGMA user_version = 1;";

/// Made last: an index is cheaper over rows that are there.
constexpr const char* sqlite_indices = R"sql(
CREATE INDEX spans_by_lane ON spans(lane_id, begin_ns);
CREATE INDEX span_attributes_by_span ON span_attributes(span_id);
CREATE INDEX mark_attributes_by_mark ON mark_attributes(mark_id);
CREATE INDEX links_by_target ON links(to_span_id);
CREATE INDEX collectives_by_operation ON collectives(operation_id);
CREATE INDEX samples_by_counter ON samples(counter_id, time_ns);
CREATE VIEW span_list AS
  SELECT spans.id, lanes.rank, lane_name.text AS lane, span_kinds.name AS kind, span_name.text AS name, spans.begin_ns,
    spans.duration_ns, spans.depth, spans.collective_id
  FROM spans JOIN lanes ON lanes.id = spans.lane_id JOIN span_kinds ON span_kinds.id = spans.kind_id
    LEFT JOIN strings AS span_name ON span_name.id = spans.name_id
    LEFT JOIN strings AS lane_name ON lane_name.id = lanes.name_id;
CREATE VIEW attribute_list AS
  SELECT span_id, key.text AS key, coalesce(span_attributes.number, value.text) AS value
  FROM span_attributes LEFT JOIN strings AS key ON key.id = key_id
    LEFT JOIN strings AS value ON value.id = coalesce(text_id, json_id);
)sql";

/// How many source rows are in memory as columns at a time.
constexpr std::size_t rows_at_a_time = 1 << 16;

bool is_in_sqlite(const ColumnDescription& column) { return column.place != ColumnPlace::arrow; }

std::string_view sql_type(ColumnType type) {
  switch (type) {
    case ColumnType::whole:
    case ColumnType::small:
    case ColumnType::flag:
    case ColumnType::string:
      return "INTEGER";
    case ColumnType::number:
      return "REAL";
    case ColumnType::word:
    case ColumnType::text:
      return "TEXT";
  }
  return "";
}

std::string create(const TableDescription& table) {
  std::string columns;
  bool has_row_id = table.key.empty();
  for (const ColumnDescription& column : table.columns) {
    if (!is_in_sqlite(column)) continue;
    columns += format("{}{} {}{}", columns.empty() ? "" : ", ", column.name, sql_type(column.type),
                      column.is_key                  ? " PRIMARY KEY"
                      : column.nulls == Nulls::never ? " NOT NULL"
                                                     : "");
    if (column.is_key && sql_type(column.type) != "INTEGER") has_row_id = false;
  }
  if (!table.key.empty()) columns += format(", {}", table.key);
  return format("CREATE TABLE {}({}){};", table.name, columns, has_row_id ? "" : " WITHOUT ROWID");
}

std::string insert_into(const TableDescription& table) {
  std::string values;
  for (const ColumnDescription& column : table.columns)
    if (is_in_sqlite(column)) values += values.empty() ? "?" : ",?";
  return format("INSERT INTO {} VALUES({})", table.name, values);
}

void set_value(SqliteInsert& insert, int place, const ColumnData& column, std::size_t row) {
  if (!column.has(row)) return insert.set(place, std::nullopt);
  switch (column.description().type) {
    case ColumnType::whole:
      return insert.set(place, column.whole()[row]);
    case ColumnType::small:
      return insert.set(place, std::int64_t{column.small()[row]});
    case ColumnType::flag:
      return insert.set(place, std::int64_t{(column.flags()[row / 8] >> (row % 8)) & 1});
    case ColumnType::number:
      return insert.set(place, column.numbers()[row]);
    case ColumnType::word:
      return insert.set(place, column.words()[static_cast<std::size_t>(column.small()[row])]);
    case ColumnType::text:
      return insert.set(place, column.text(row));
    case ColumnType::string:
      return insert.set(place, std::int64_t{column.strings()[static_cast<std::size_t>(column.small()[row])].value});
  }
}

/// Writes all tables, some rows at a time.
class Writer {
 public:
  Writer(const Run& run, SqliteDatabase& database, const Progress& progress)
      : sources_(run), database_(database), progress_(progress) {}

  /// False if cancelled.
  bool write() {
    database_.run(sqlite_head);
    for (const TableDescription& table : table_descriptions()) database_.run(create(table).c_str());
    for (const TableRows& rows : table_rows()) all_ += rows_of(rows);
    for (const TableRows& rows : table_rows())
      if (!write(rows)) return false;
    database_.run(sqlite_indices);
    return !progress_ || progress_(1.0);
  }

  /// Which column got a number of more than 32 bits; empty: none.
  [[nodiscard]] const std::string& too_large() const { return too_large_; }

 private:
  /// A table that cannot be computed is empty, and `missing` has the reason.
  std::size_t rows_of(const TableRows& rows) { return why_missing(rows, sources_).empty() ? rows.count(sources_) : 0; }

  bool write(const TableRows& rows) {
    const TableDescription& table = *find_table(rows.name);
    std::vector<ColumnData> columns;
    columns.reserve(table.columns.size());
    std::vector<ColumnData*> places(table.columns.size(), nullptr);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (is_in_sqlite(table.columns[i])) places[i] = &columns.emplace_back(table.columns[i]);
    RowWriter writer{std::move(places)};
    SqliteInsert insert{database_, insert_into(table)};
    const std::size_t count = rows_of(rows);
    for (std::size_t first = 0; first < count && !database_.failed(); first += rows_at_a_time) {
      const std::size_t end = std::min(count, first + rows_at_a_time);
      for (ColumnData& column : columns) column.clear();
      rows.fill(sources_, {first, end}, writer);
      for (const ColumnData& column : columns)
        if (!column.fits()) {
          too_large_ = format("table {}, column {}", rows.name, column.description().name);
          return false;
        }
      for (std::size_t row = 0; row < columns.front().rows(); ++row) {
        for (std::size_t i = 0; i < columns.size(); ++i) set_value(insert, static_cast<int>(i) + 1, columns[i], row);
        insert.add();
      }
      done_ += end - first;
      if (progress_ && !progress_(0.95 * static_cast<double>(done_) / static_cast<double>(all_))) return false;
    }
    return true;
  }

  TableSources sources_;
  SqliteDatabase& database_;
  const Progress& progress_;
  std::size_t all_ = 0;  // source rows of all tables
  std::size_t done_ = 0;
  std::string too_large_;
};

}  // namespace

Result<void> write_tables(const Run& run, SqliteDatabase& database, const Progress& progress,
                          const std::filesystem::path& out) {
  Writer writer{run, database, progress};
  const bool written = writer.write();
  if (!writer.too_large().empty())
    return fail(ErrorKind::unreadable,
                format("{}: a number has more than 32 bits; the recording is damaged, or was not "
                       "made by rankscope",
                       writer.too_large()));
  if (!written)
    return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", out.string()));
  return {};
}

Result<void> write_sqlite(const Run& run, const std::filesystem::path& out, const Progress& progress) {
  RS_TRY(auto place, OutputPlace::file(out));
  SqliteDatabase database{place.path()};
  RS_TRY_VOID(write_tables(run, database, progress, out));
  RS_TRY_VOID(database.finish(out));
  return place.commit();
}

}  // namespace rankscope::analyzer
