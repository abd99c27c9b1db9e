// The findings of a report as a table, and where in the run each of them is to be seen.
#pragma once

#include <optional>

#include "rankscope/analyzer/rules/finding.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// A time on a rank; no rank: it concerns all of them.
struct Place {
  TimeRange time;
  std::optional<RankId> rank;
  bool operator==(const Place&) const = default;
};

/// The step that a finding names, else one of median length; all of the run where there are no steps. A tenth of the
/// step is added on both sides. Of a rank that was lost or hung, the time around the first operation that it missed.
[[nodiscard]] Place place_of(const analyzer::Finding& finding, const analyzer::Report& report, TimeRange extent);

/// If all of the run is in sight, goes to the first operation that a rank missed, if the job stopped at it; else as
/// show_steps().
void show_first_sight(Session& session);

/// One row per finding, in the report's order: the worst first.
class FindingsModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { severity, title, gain };
  explicit FindingsModel(Session& session, QObject* parent = nullptr);

  [[nodiscard]] const analyzer::Finding& finding(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  /// What to say in place of rows: the verdict in brief; empty where there are rows.
  [[nodiscard]] QString why_empty() const;
  /// The same beside rows.
  [[nodiscard]] QString note() const;
  /// With all reasons; empty without a report.
  [[nodiscard]] QString whole_note() const;
  /// The session takes the finding, and shows where it is to be seen.
  void go_to(int row);

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  void reload();

  Session& session_;
  std::vector<analyzer::Finding> rows_;
};

}  // namespace rankscope::gui
