// Events counted and summed by two of: name, rank, step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {
struct Report;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// What an event is, in the words of people who look for it.
enum class PivotKind : std::uint8_t { all, kernel, communication, copy, op, annotation, python, call, other };
[[nodiscard]] PivotKind pivot_kind_of(SpanKind kind);

/// What rows or columns stand for.
enum class PivotBy : std::uint8_t { nothing, name, rank, step };

/// Which events count, and by what.
struct PivotQuestion {
  std::string text{};  ///< in the short or full name, in any case; empty: all names
  PivotKind kind = PivotKind::all;
  PivotBy rows = PivotBy::name;
  PivotBy columns = PivotBy::nothing;
  std::vector<RankId> ranks{};      ///< ascending; empty: all
  std::optional<TimeRange> time{};  ///< only events that start in it; they count as a whole
  bool operator==(const PivotQuestion&) const = default;
};

/// Of all events of a row and column.
struct PivotCell {
  std::uint32_t column = 0;  ///< place in PivotTable::columns; of all columns: the one behind the last
  std::int64_t count = 0;
  std::int64_t sum_ns = 0;     ///< of their durations
  std::int64_t median_ns = 0;  ///< of the same
  std::int64_t longest_ns = 0;
  SpanId longest{};  ///< the event that takes longest
};

/// A name, rank or step. Events outside of steps, and of processes without rank, have one of their own.
struct PivotKey {
  std::string text;
  std::int64_t number = 0;  ///< of a rank or step; to sort by
};

/// The last column is the sum of all others; without columns it is the only one.
struct PivotTable {
  PivotQuestion question;
  std::vector<PivotKey> rows;
  std::vector<PivotKey> columns;
  std::vector<PivotCell> cells;       ///< that have events: by row, then column; the last of each row is of all columns
  std::vector<std::size_t> row_ends;  ///< of each row, behind its last cell; names and ranks may have millions of pairs
  std::int64_t all_ns = 0;            ///< sum of all rows

  [[nodiscard]] std::size_t width() const { return columns.size() + 1; }
  /// One that counts nothing where there are no events.
  [[nodiscard]] const PivotCell& cell(std::size_t row, std::size_t column) const;
};

/// Rows with the largest sum first, columns in their order. Without a report, no event is in a step. Nothing if it was
/// stopped.
[[nodiscard]] std::optional<PivotTable> pivot(const Run& run, const analyzer::Report* report,
                                              const PivotQuestion& question, const std::stop_token& stop);

}  // namespace rankscope::gui
