#include "rankscope/analyzer/query.h"

#include <utility>

#include "exports/sqlite/database.h"
#include "exports/sqlite/tables.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

constexpr const char* in_memory = ":memory:";
constexpr int steps_between_stops = 10'000;  // of SQLite's machine

int stop_query(void* stop) { return static_cast<std::stop_token*>(stop)->stop_requested() ? 1 : 0; }

/// Ends the statement, and the watch over it, whatever happens.
class Query {
 public:
  Query(sqlite3* database, std::stop_token stop) : database_(database), stop_(std::move(stop)) {
    sqlite3_progress_handler(database_, steps_between_stops, stop_query, &stop_);
  }
  ~Query() {
    sqlite3_finalize(statement_);
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Result<void> prepare(std::string_view sql) {
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement_, &rest);
    if (code != SQLITE_OK) return fail(ErrorKind::usage, sqlite3_errmsg(database_));
    if (statement_ == nullptr) return fail(ErrorKind::usage, "type a query, such as SELECT * FROM steps");
    const std::string_view behind{rest, static_cast<std::size_t>(sql.data() + sql.size() - rest)};
    if (behind.find_first_not_of(" \t\r\n;") != std::string_view::npos)
      return fail(ErrorKind::usage, "only one statement can be run at a time");
    if (sqlite3_stmt_readonly(statement_) == 0)
      return fail(ErrorKind::usage, "queries cannot change the tables; use SELECT");
    return {};
  }

  Result<QueryAnswer> rows(std::size_t most) {
    QueryAnswer answer;
    const int columns = sqlite3_column_count(statement_);
    for (int i = 0; i < columns; ++i) answer.columns.emplace_back(sqlite3_column_name(statement_, i));
    int code = sqlite3_step(statement_);
    for (; code == SQLITE_ROW && answer.rows.size() < most; code = sqlite3_step(statement_)) {
      auto& row = answer.rows.emplace_back();
      for (int i = 0; i < columns; ++i) row.push_back(value_at(i));
    }
    answer.cut = code == SQLITE_ROW;
    if (code == SQLITE_INTERRUPT) return fail(ErrorKind::usage, "the query was stopped");
    if (code != SQLITE_ROW && code != SQLITE_DONE) return fail(ErrorKind::usage, sqlite3_errmsg(database_));
    return answer;
  }

 private:
  [[nodiscard]] std::optional<std::string> value_at(int column) {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

  sqlite3* database_;
  std::stop_token stop_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace

class QueryDatabase::Impl {
 public:
  SqliteDatabase database{in_memory};
};

QueryDatabase::QueryDatabase(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
QueryDatabase::~QueryDatabase() = default;

Result<std::shared_ptr<QueryDatabase>> QueryDatabase::of(const Run& run, const Progress& progress) {
  auto impl = std::make_unique<Impl>();
  RS_TRY_VOID(write_tables(run, impl->database, progress, "the tables in memory"));
  impl->database.run("CREATE TEMP TABLE selection(span_id INTEGER PRIMARY KEY); COMMIT; PRAGMA query_only = ON;");
  if (impl->database.failed())
    return fail(ErrorKind::cannot_write, format("the tables in memory: {}", impl->database.error()));
  sqlite3_limit(impl->database.handle(), SQLITE_LIMIT_ATTACHED, 0);  // no other files
  return std::shared_ptr<QueryDatabase>{new QueryDatabase{std::move(impl)}};
}

Result<QueryAnswer> QueryDatabase::ask(std::string_view sql, std::span<const SpanId> selection, std::size_t most_rows,
                                       const std::stop_token& stop) {
  SqliteDatabase& database = impl_->database;
  database.run("PRAGMA query_only = OFF; BEGIN; DELETE FROM selection;");
  {
    SqliteInsert insert{database, "INSERT INTO selection VALUES(?)"};
    for (const SpanId span : selection) {
      insert.set(1, std::int64_t{span.value});
      insert.add();
    }
  }
  database.run("COMMIT; PRAGMA query_only = ON;");
  if (database.failed()) return fail(ErrorKind::cannot_write, format("the tables in memory: {}", database.error()));
  Query query{database.handle(), stop};
  RS_TRY_VOID(query.prepare(sql));
  return query.rows(most_rows);
}

}  // namespace rankscope::analyzer
