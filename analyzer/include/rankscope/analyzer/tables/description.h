// The tables of a run and their columns: the one description for the SQLite export, Arrow and Parquet.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rankscope::analyzer {

/// What a column holds; SQLite stores flags as 0 and 1, and a string of the run as its id in `strings`.
enum class ColumnType : std::uint8_t {
  whole,   ///< 64-bit integer: times, sizes, ids of long tables
  small,   ///< 32-bit integer: ranks, ids of short tables, depths
  flag,    ///< true or false
  number,  ///< double
  word,    ///< one of a few words
  text,    ///< a string of its own
  string,  ///< a string of the run; its name ends in _id in SQLite, and nowhere else
};
/// "int64", "int32", "bool", "double", "string"
[[nodiscard]] std::string_view name_of(ColumnType type);

/// Where a column exists: SQLite joins `lanes` for what the rows of Arrow and Parquet hold themselves.
enum class ColumnPlace : std::uint8_t { everywhere, sqlite, arrow };

/// Whether a value can be missing ("not recorded").
enum class Nulls : std::uint8_t { never, possible };

/// A column of a table.
struct ColumnDescription {
  std::string_view name;  ///< in SQLite
  ColumnType type = ColumnType::whole;
  Nulls nulls = Nulls::never;
  ColumnPlace place = ColumnPlace::everywhere;
  bool is_key = false;  ///< it alone identifies a row

  /// In Arrow and Parquet: the string itself instead of its id.
  [[nodiscard]] std::string_view arrow_name() const;
};

/// What rows of a table can be chosen by.
enum class RowChoice : std::uint8_t { none, ranks, steps, ranks_and_steps };

/// A table: what each row is, and its columns in order.
struct TableDescription {
  std::string_view name;
  std::string_view row;  ///< "a step of one rank"
  std::span<const ColumnDescription> columns;
  std::string_view key = {};  ///< in SQL, where several columns identify a row; else empty
  RowChoice choice = RowChoice::none;
};

/// All tables, in the order of docs/sqlite.md.
[[nodiscard]] std::span<const TableDescription> table_descriptions();
/// The table of this name, or null.
[[nodiscard]] const TableDescription* find_table(std::string_view name);

}  // namespace rankscope::analyzer
