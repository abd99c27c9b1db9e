// What `rankscope compare` says of two runs, as rows that lead to both places.
#pragma once

#include <optional>
#include <vector>

#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/compare/step_link.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// The span that a key names which takes longest within a time; of the whole run where the time is empty.
[[nodiscard]] std::optional<SpanId> longest_span_of(const Run& run, const analyzer::CompareKey& key, TimeRange time);

/// Where the time of a step went, then what changed by name, what is new, what is gone, then the ranks. Made in the
/// background as soon as both reports are there.
class ComparisonModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { what, kind, in_a, in_b, change, percent, of_step };
  ComparisonModel(Session& a, Session& b, StepLink& link, QObject* parent = nullptr);

  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "B is 11.1 % slower than A. ...", or what is being waited for.
  [[nodiscard]] QString verdict() const { return verdict_; }
  /// What makes that unsure, in sentences; empty until there is one.
  [[nodiscard]] QString doubts() const { return doubts_; }
  /// Both runs show the step of median length; what the row names is looked for in the background and selected there in
  /// each run that has it.
  void go_to(int row);

 Q_SIGNALS:
  void compared();

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  /// A difference between the two runs, and where to show it in each.
  struct Row {
    QString what;
    QString kind;
    std::optional<std::int64_t> a_ns;
    std::optional<std::int64_t> b_ns;
    std::optional<analyzer::CompareKey> key{};
    std::optional<RankId> rank_a{};
    std::optional<RankId> rank_b{};
  };
  void ask();
  void take(const analyzer::Comparison& comparison);
  void add_findings(const analyzer::ComparedFindings& findings);
  void add_split(const analyzer::SplitComparison& split);
  void add_keys(const std::vector<analyzer::KeyChange>& keys, const QString& note);
  void add_ranks(const analyzer::SplitComparison& split);
  void say(const QString& verdict, const QString& doubts = {});
  [[nodiscard]] QString text_of(const Row& row, Column column) const;
  static void select(Session& session, std::optional<SpanId> span, std::optional<RankId> rank);

  Session& a_;
  Session& b_;
  StepLink& link_;
  std::vector<Row> rows_;
  QString verdict_;
  QString doubts_;
  std::int64_t step_ns_ = 0;  // mean window of A
  LatestJob job_;
  LatestJob going_;
};

}  // namespace rankscope::gui
