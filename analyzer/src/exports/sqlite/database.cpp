#include "exports/sqlite/database.h"

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

SqliteDatabase::SqliteDatabase(const std::filesystem::path& path) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  check(code);
  run("PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "BEGIN;");
}

void SqliteDatabase::check(int code) {
  if (failed() || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  error_ = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  if (code == SQLITE_FULL || code == SQLITE_IOERR) error_ += "; free some space or choose another folder";
}

void SqliteDatabase::run(const char* sql) {
  if (!failed()) check(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

Result<void> SqliteDatabase::finish(const std::filesystem::path& shown) {
  run("COMMIT;");
  if (!failed()) check(sqlite3_close(handle_.release()));
  if (!failed()) return {};
  return fail(ErrorKind::cannot_write, format("cannot write {}: {}; nothing was written", shown.string(), error_));
}

SqliteInsert::SqliteInsert(SqliteDatabase& database, const std::string& sql) : database_(database) {
  if (database.failed()) return;
  sqlite3_stmt* statement = nullptr;
  database.check(
      sqlite3_prepare_v3(database.handle_.get(), sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  statement_.reset(statement);
}

void SqliteInsert::add() {
  if (database_.failed()) return;
  database_.check(sqlite3_step(statement_.get()));
  sqlite3_reset(statement_.get());
}

}  // namespace rankscope::analyzer
