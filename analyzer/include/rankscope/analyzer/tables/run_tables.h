// The tables of one run, filled when they are asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/tables/column_data.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

struct Report;

/// What of a table is read; nothing set = all of it.
struct TableChoice {
  std::optional<StepRange> steps;      ///< rows that touch these steps of their rank
  std::vector<RankId> ranks;           ///< rows of these ranks
  std::vector<std::string> columns;    ///< by their names in Arrow, in this order
  std::optional<std::size_t> first{};  ///< only as many rows, the first ones; reading ends with them
};

/// Analyses that a table needs (matched operations, steps, the report) are computed once and kept. One thread at a
/// time.
class RunTables {
 public:
  explicit RunTables(std::shared_ptr<const Run> run);
  RunTables(RunTables&&) noexcept;
  RunTables& operator=(RunTables&&) noexcept;
  ~RunTables();

  /// The columns that Arrow has. `usage` for a table, column, rank or step that does not exist, or a choice that the
  /// table does not allow; `not_computable`, with the reason, where the run does not hold what the table shows;
  /// `unreadable` if a number is too large for its column.
  [[nodiscard]] Result<TableData> read(std::string_view table, const TableChoice& choice);
  /// The report of the whole run with the usual options.
  [[nodiscard]] const Report& report();
  [[nodiscard]] const Run& run() const;
  [[nodiscard]] const std::shared_ptr<const Run>& shared_run() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::analyzer
