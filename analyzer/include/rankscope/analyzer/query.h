// SQL over the tables of a run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/progress.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// The rows that a query answered, as text; none where a value is NULL.
struct QueryAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  bool cut = false;  ///< there are more rows than were asked for
};

/// All tables of docs/sqlite.md in memory, and one more: selection(span_id). Queries only read. Used by one thread at a
/// time.
class QueryDatabase {
 public:
  /// `unreadable` for damaged recordings; `cannot_write` if it was cancelled.
  [[nodiscard]] static Result<std::shared_ptr<QueryDatabase>> of(const Run& run, const Progress& progress);
  ~QueryDatabase();
  QueryDatabase(const QueryDatabase&) = delete;
  QueryDatabase& operator=(const QueryDatabase&) = delete;

  /// One statement that reads; `usage` with SQLite's words where it is wrong, or where it was stopped. `selection` is
  /// only looked at if the statement may read the table of this name.
  [[nodiscard]] Result<QueryAnswer> ask(std::string_view sql, std::span<const SpanId> selection, std::size_t most_rows,
                                        const std::stop_token& stop);

 private:
  class Impl;
  explicit QueryDatabase(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankscope::analyzer
