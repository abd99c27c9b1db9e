// What the rows of tables are made from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/tables/run_tables.h"
#include "rankscope/core/model/run.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Which rows are wanted; as it is made, all.
class RowFilter {
 public:
  RowFilter() = default;
  /// `section` has the windows of these steps, if steps are chosen; it must outlive the filter.
  RowFilter(const TableChoice& choice, const StepsSection* section);

  [[nodiscard]] bool all() const { return ranks_.empty() && !steps_; }
  [[nodiscard]] bool keeps(RankId rank) const;
  /// Something of a rank that takes this time; it is kept if it touches the chosen steps of the rank.
  [[nodiscard]] bool keeps(RankId rank, TimeRange time) const;
  [[nodiscard]] bool keeps_step(std::int64_t index) const;

 private:
  std::vector<RankId> ranks_;  // ascending
  std::optional<StepRange> steps_;
  std::unordered_map<RankId, TimeRange> time_;  // from the first to the last chosen step
};

/// A run and the analyses of it that tables show, each computed once. Analyses of the report follow the choice.
class TableSources {
 public:
  explicit TableSources(const Run& run) : run_(run) {}

  [[nodiscard]] const Run& run() const { return run_; }
  [[nodiscard]] const Matching& matching();
  /// Of each row of Run::collectives() the row of its operation in matching(); none: it has no partner.
  [[nodiscard]] const std::vector<std::optional<std::int64_t>>& operation_of_rows();
  [[nodiscard]] const StepsResult& steps();
  /// Of the chosen steps and ranks.
  [[nodiscard]] const Report& report();
  [[nodiscard]] const Report& whole_report();
  [[nodiscard]] const RowFilter& filter() const { return filter_; }
  /// `usage` if the ranks or steps are not in the run.
  [[nodiscard]] Result<void> choose(const TableChoice& choice);

 private:
  const Run& run_;
  std::optional<Matching> matching_;
  std::optional<std::vector<std::optional<std::int64_t>>> operation_of_rows_;
  std::optional<StepsResult> steps_;
  std::unique_ptr<Report> whole_report_;
  std::unique_ptr<Report> chosen_report_;
  ReportOptions chosen_;
  RowFilter filter_;
};

}  // namespace rankscope::analyzer
