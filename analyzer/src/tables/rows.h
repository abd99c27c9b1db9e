// How the rows of each table are made: from some of its source rows (spans, lanes, ...) at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"
#include "tables/sources.h"

namespace rankscope::analyzer {

/// Adds rows to columns, of which some may not be wanted (null).
class RowWriter {
 public:
  explicit RowWriter(std::vector<ColumnData*> columns) : columns_(std::move(columns)) {}

  /// One value per column of the description, in its order.
  template <class... Values>
  void operator()(const Values&... values) {
    RS_CHECK(sizeof...(values) == columns_.size());
    std::size_t place = 0;
    (put(columns_[place++], values), ...);
  }
  /// Before as many rows are added.
  void reserve(std::size_t rows) {
    for (ColumnData* column : columns_)
      if (column != nullptr) column->reserve(rows);
  }

 private:
  template <class Value>
  static void put(ColumnData* column, const Value& value) {
    if (column != nullptr) column->add(value);
  }
  std::vector<ColumnData*> columns_;
};

/// Some of the source rows of a table: from `first` up to, but not including, `end`.
struct SourceRows {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// How one table is made.
struct TableRows {
  std::string_view name;
  std::size_t (*count)(TableSources&);  ///< of its source rows
  void (*fill)(TableSources&, SourceRows, RowWriter&);
  /// Why the run does not have what the table shows; empty: it does. Null: every run has it.
  std::string (*why_missing)(TableSources&) = nullptr;
};

/// The same tables as table_descriptions(), in the same order.
[[nodiscard]] std::span<const TableRows> table_rows();
[[nodiscard]] std::string why_missing(const TableRows& rows, TableSources& sources);

// What several files of rows need.

using Whole = std::optional<std::int64_t>;

[[nodiscard]] inline std::int64_t row_number(std::size_t number) { return static_cast<std::int64_t>(number); }
template <class Tag>
[[nodiscard]] Whole number_of(Id<Tag> id) {
  return id.is_set() ? Whole{id.value} : std::nullopt;
}
/// -1 stands for "not recorded" in the Run.
[[nodiscard]] inline Whole recorded(std::int64_t value) { return value >= 0 ? Whole{value} : std::nullopt; }

// The functions of the rows, by file.

void fill_run(TableSources&, SourceRows, RowWriter&);
void fill_run_metadata(TableSources&, SourceRows, RowWriter&);
void fill_strings(TableSources&, SourceRows, RowWriter&);
void fill_processes(TableSources&, SourceRows, RowWriter&);
void fill_process_metadata(TableSources&, SourceRows, RowWriter&);
void fill_devices(TableSources&, SourceRows, RowWriter&);
void fill_device_properties(TableSources&, SourceRows, RowWriter&);
void fill_lanes(TableSources&, SourceRows, RowWriter&);
void fill_span_kinds(TableSources&, SourceRows, RowWriter&);
void fill_groups(TableSources&, SourceRows, RowWriter&);
void fill_group_members(TableSources&, SourceRows, RowWriter&);
void fill_quality(TableSources&, SourceRows, RowWriter&);

void fill_spans(TableSources&, SourceRows, RowWriter&);
void fill_span_attributes(TableSources&, SourceRows, RowWriter&);
void fill_marks(TableSources&, SourceRows, RowWriter&);
void fill_mark_attributes(TableSources&, SourceRows, RowWriter&);
void fill_links(TableSources&, SourceRows, RowWriter&);
void fill_counters(TableSources&, SourceRows, RowWriter&);
void fill_samples(TableSources&, SourceRows, RowWriter&);

void fill_operations(TableSources&, SourceRows, RowWriter&);
void fill_collectives(TableSources&, SourceRows, RowWriter&);
void fill_steps(TableSources&, SourceRows, RowWriter&);
void fill_rank_steps(TableSources&, SourceRows, RowWriter&);

void fill_ranks(TableSources&, SourceRows, RowWriter&);
void fill_rank_step_times(TableSources&, SourceRows, RowWriter&);
void fill_kernels(TableSources&, SourceRows, RowWriter&);
void fill_operators(TableSources&, SourceRows, RowWriter&);
void fill_launches(TableSources&, SourceRows, RowWriter&);
void fill_memory(TableSources&, SourceRows, RowWriter&);
void fill_stragglers(TableSources&, SourceRows, RowWriter&);
void fill_findings(TableSources&, SourceRows, RowWriter&);

}  // namespace rankscope::analyzer
