// SQLite in the manner of this house: the first failure is kept, prepared statements, no exceptions.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A new database file, filled in one transaction without a journal: it is thrown away if anything fails. After the
/// first failure all calls do nothing.
class SqliteDatabase {
 public:
  explicit SqliteDatabase(const std::filesystem::path& path);

  void run(const char* sql);
  /// Ends the transaction and closes the file. The first error of all; `shown` is the name that the user knows.
  [[nodiscard]] Result<void> finish(const std::filesystem::path& shown);
  [[nodiscard]] bool failed() const { return !error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  friend class SqliteInsert;
  struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  void check(int code);

  std::unique_ptr<sqlite3, Closer> handle_;
  std::string error_;
};

/// A prepared INSERT for rows of this many values; set() one after the other, then add().
class SqliteInsert {
 public:
  SqliteInsert(SqliteDatabase& database, const std::string& sql);

  void set(int place, std::int64_t value) { sqlite3_bind_int64(statement_.get(), place, value); }
  void set(int place, double value) { sqlite3_bind_double(statement_.get(), place, value); }
  void set(int place, std::nullopt_t) { sqlite3_bind_null(statement_.get(), place); }
  /// The text must live until the row is added.
  void set(int place, std::string_view value) {
    sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  /// Adds the row.
  void add();

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  SqliteDatabase& database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

}  // namespace rankscope::analyzer
