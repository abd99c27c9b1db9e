// One SQLite export of Nsight Systems, opened read-only. Tables and columns differ between its versions: they are
// looked up, never assumed, and a column that is absent reads as NULL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace rankscope::analyzer::nsys {

/// The rows of one query, read one by one. Views into a row live until the next call of next().
class Rows {
 public:
  Rows(sqlite3_stmt* statement, std::string context);
  /// Steps to the next row. After `false`, finish() tells whether that was the end or an error.
  [[nodiscard]] bool next();
  [[nodiscard]] Result<void> finish() const;

  /// Nothing for NULL and for values that are no number.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  [[nodiscard]] std::int64_t integer_or(int column, std::int64_t otherwise) const;
  [[nodiscard]] std::optional<double> real(int column) const;
  /// Empty for NULL.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::span<const std::byte> bytes(int column) const;

  /// Starts again with the first parameter bound to a value.
  void restart(std::int64_t parameter);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string context_;
  int status_;
};

class Database {
 public:
  /// `unreadable`, in one sentence, for a file that is absent, empty, no SQLite, no export, damaged or being written.
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file_name() const { return path_.filename().string(); }
  [[nodiscard]] bool has(std::string_view table) const { return tables_.contains(table); }
  [[nodiscard]] bool has(std::string_view table, std::string_view column) const;
  [[nodiscard]] const std::map<std::string, std::set<std::string, std::less<>>, std::less<>>& tables() const {
    return tables_;
  }
  /// The columns of a table in the order asked for; NULL stands for those that it lacks. `tail`: WHERE, ORDER BY.
  [[nodiscard]] Result<Rows> rows(std::string_view table, std::span<const std::string_view> columns,
                                  std::string_view tail = {}) const;
  /// Rows ever inserted into a table: exports only insert. 0 for a table that is absent or cannot be read.
  [[nodiscard]] std::uint64_t row_count(std::string_view table) const;
  /// The value of a name in a table of (name, value); empty if either is absent.
  [[nodiscard]] std::string setting(std::string_view table, std::string_view name) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] Result<void> connect();
  [[nodiscard]] Result<void> read_schema();
  [[nodiscard]] Result<Rows> query(const std::string& sql, std::string_view what) const;

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> tables_;
};

}  // namespace rankscope::analyzer::nsys
