#include "rankscope/analyzer/query.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "exports/sqlite/database.h"
#include "exports/sqlite/tables.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

constexpr const char* in_memory = ":memory:";
constexpr int steps_between_stops = 10'000;  // of SQLite's machine
constexpr std::size_t rows_between_stops = 10'000;
constexpr const char* stopped = "the query was stopped";

int stop_query(void* stop) { return static_cast<std::stop_token*>(stop)->stop_requested() ? 1 : 0; }

/// Names of tables are in any case. False if it is surely not read.
bool may_read_selection(std::string_view sql) {
  constexpr std::string_view table = "selection";
  const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
  return !std::ranges::search(sql, table, {}, lower, lower).empty();
}

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

  /// Refuses what changes the tables and, as BEGIN, what only stands in the way of the next query: it has no columns.
  Result<void> prepare(std::string_view sql) {
    const char* const end = sql.data() + sql.size();
    const char* rest = sql.data();
    if (compile(rest, end, &statement_) != SQLITE_OK) return fail(ErrorKind::usage, sqlite3_errmsg(database_));
    if (statement_ == nullptr) return fail(ErrorKind::usage, "type a query, such as SELECT * FROM steps");
    sqlite3_stmt* other = nullptr;
    const int code = rest == end ? SQLITE_OK : compile(rest, end, &other);
    sqlite3_finalize(other);
    if (code != SQLITE_OK || other != nullptr) return fail(ErrorKind::usage, "only one statement can be run at a time");
    if (sqlite3_stmt_readonly(statement_) == 0 || sqlite3_column_count(statement_) == 0)
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
    if (code == SQLITE_INTERRUPT) return fail(ErrorKind::usage, stopped);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return fail(ErrorKind::usage, sqlite3_errmsg(database_));
    return answer;
  }

 private:
  /// The statement at `text`, which is then what follows it; none where only spaces, comments or semicolons are left.
  int compile(const char*& text, const char* end, sqlite3_stmt** statement) {
    return sqlite3_prepare_v2(database_, text, static_cast<int>(end - text), statement, &text);
  }

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
  /// False if it was stopped: the table then has some of them.
  bool fill_selection(std::span<const SpanId> selection, const std::stop_token& stop) {
    database.run("PRAGMA query_only = OFF; BEGIN; DELETE FROM selection;");
    bool goes_on = true;
    {
      SqliteInsert insert{database, "INSERT INTO selection VALUES(?)"};
      for (std::size_t row = 0; row < selection.size() && goes_on; ++row) {
        insert.set(1, std::int64_t{selection[row].value});
        insert.add();
        goes_on = row % rows_between_stops != 0 || !stop.stop_requested();
      }
    }
    database.run("COMMIT;");
    return goes_on;
  }

  SqliteDatabase database{in_memory};
};

QueryDatabase::QueryDatabase(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
QueryDatabase::~QueryDatabase() = default;

Result<std::shared_ptr<QueryDatabase>> QueryDatabase::of(const Run& run, const Progress& progress) {
  auto impl = std::make_unique<Impl>();
  RS_TRY_VOID(write_tables(run, impl->database, progress, "the tables in memory"));
  impl->database.run("CREATE TEMP TABLE selection(span_id INTEGER PRIMARY KEY); COMMIT; PRAGMA query_only = ON;");
  if (impl->database.failed())
    return fail(ErrorKind::cannot_write, format("cannot write the tables in memory: {}", impl->database.error()));
  sqlite3_limit(impl->database.handle(), SQLITE_LIMIT_ATTACHED, 0);  // no other files
  return std::shared_ptr<QueryDatabase>{new QueryDatabase{std::move(impl)}};
}

Result<QueryAnswer> QueryDatabase::ask(std::string_view sql, std::span<const SpanId> selection, std::size_t most_rows,
                                       const std::stop_token& stop) {
  SqliteDatabase& database = impl_->database;
  const bool goes_on = !may_read_selection(sql) || impl_->fill_selection(selection, stop);
  database.run("PRAGMA query_only = ON;");  // the last query may have switched it off
  if (!goes_on) return fail(ErrorKind::usage, stopped);
  if (database.failed())
    return fail(ErrorKind::cannot_write, format("cannot write the tables in memory: {}", database.error()));
  Query query{database.handle(), stop};
  RS_TRY_VOID(query.prepare(sql));
  return query.rows(most_rows);
}

}  // namespace rankscope::analyzer
