// Rows of a SQLite database as text.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

namespace rankscope::testing {

/// Columns joined by "|", NULL as "-"; a failure is one row with its message.
inline std::vector<std::string> sqlite_rows(const std::filesystem::path& path, const std::string& sql) {
  std::vector<std::string> rows;
  sqlite3* database = nullptr;
  sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  const auto row = [](void* to, int columns, char** values, char**) {
    std::string text;
    for (int i = 0; i < columns; ++i) text += (i == 0 ? "" : "|") + std::string{values[i] == nullptr ? "-" : values[i]};
    static_cast<std::vector<std::string>*>(to)->push_back(text);
    return 0;
  };
  char* error = nullptr;
  if (sqlite3_exec(database, sql.c_str(), row, &rows, &error) != SQLITE_OK)
    rows = {error == nullptr ? "cannot open" : error};
  sqlite3_free(error);
  sqlite3_close(database);
  return rows;
}

/// Every table with its rows, as a golden file wants it.
inline std::string sqlite_text(const std::filesystem::path& path) {
  std::string text;
  for (const auto& table : sqlite_rows(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
    text += table + "\n";
    for (const auto& row : sqlite_rows(path, "SELECT * FROM " + table)) text += "  " + row + "\n";
  }
  return text;
}

}  // namespace rankscope::testing
