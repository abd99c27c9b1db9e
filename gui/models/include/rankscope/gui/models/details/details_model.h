// What is known of the selected span, and of the operation that it is a part of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/closer_looks.h"
#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/statistics/statistics_model.h"

namespace rankscope::analyzer {
struct Finding;
struct Operation;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// Property and value, a row each: of the event or stretch of time that was selected last, else of the finding that was
/// gone to; else no rows. Sums of a stretch are computed in the background.
class DetailsModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { property, value };
  explicit DetailsModel(Session& session, QObject* parent = nullptr);

  /// "ampere_sgemm_128x64_tn on rank 3 / stream 7", "Selected stretch of 12.3 ms", or the finding; empty where there
  /// are no rows.
  [[nodiscard]] QString title() const;
  [[nodiscard]] bool shows_stretch() const { return stretch_is_latest_ && session_.area(); }
  /// An event is shown that is not to be seen in the visible range.
  [[nodiscard]] bool is_out_of_sight() const;
  /// Where a row leads to another span (its launch, its backward), that is selected and shown.
  void go_to(int row);
  /// The value of a property, or empty.
  [[nodiscard]] QString value_of(const QString& name) const;
  /// All rows, "property: value" each.
  [[nodiscard]] QString as_text() const;

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  /// A property, and the span that a click on it leads to.
  struct Row {
    QString name;
    QString text;
    std::optional<SpanId> target{};
  };
  void reload();
  void add(QString name, QString text, std::optional<SpanId> target = {});
  void add_place(const Run& run, SpanId id);
  void add_times(const Run& run, SpanId id);
  /// Of a copy whose size was recorded; of a collective, as the report has it.
  void add_copy_speed(const Run& run, SpanId id);
  void add_bus_bandwidth(const Run& run, const Collective& part);
  void add_other_ranks(const Run& run, SpanId id);
  void add_finding(const analyzer::Finding& finding);
  void add_stretch(const Run& run, const Area& area);
  void add_sums(const RangeAnswer& sums);
  void add_operation(const Run& run, const Span& span);
  void add_links(const Run& run, SpanId id);

  /// What there is to tell of where no event is selected.
  [[nodiscard]] const analyzer::Finding* shown_finding() const;

  Session& session_;
  Statistics sums_;  ///< of the stretch
  bool stretch_is_latest_;
  std::vector<Row> rows_;
};

/// The members of the operation that the selected span is a part of, the last one to come first.
class MembersModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { rank, arrived, waited, waited_for, length };
  explicit MembersModel(Session& session, QObject* parent = nullptr);

  /// Who came last and what that cost, or why it cannot be told; empty where the span is part of no operation.
  [[nodiscard]] QString verdict() const { return verdict_; }
  /// Selects the span of a member and shows it.
  void go_to(int row);
  /// Verdict and rows; empty where there are none.
  [[nodiscard]] QString as_text() const;

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  /// A member of the operation, started or not.
  struct Row {
    RankId rank;
    std::optional<std::uint32_t> member;  ///< row of Run::collectives(); not set: it never started
  };
  void index_operations();
  void reload();
  void find_members(const analyzer::Operation& operation);
  [[nodiscard]] QString verdict_on(const analyzer::Operation& operation) const;
  [[nodiscard]] QString text_of(const Row& row, Column column) const;

  Session& session_;
  CloserLooks& looks_;
  std::vector<std::uint32_t> operation_of_row_;  // by row of Run::collectives(); no_operation: none
  std::vector<Row> rows_;
  RunTime first_start_{};
  QString verdict_;
};

}  // namespace rankscope::gui
