// Fixes to choose from, and what a step would take with them.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/what_if/what_if.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// Offers the fixes that make sense in this run: its slow ranks, and what needs no subject. Others are added as the
/// command line takes them. Each choice is answered in the background, by replay of the run as it was recorded.
class WhatIfModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { fix, meaning, gain };
  explicit WhatIfModel(Session& session, QObject* parent = nullptr);

  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

  /// A fix in the words of the command line ("op:aten::mm*0.5"), chosen at once. A text that is none is refused: its
  /// row is taken back, and the others are answered.
  void add(const QString& text);
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "A step would take 40.1 ms instead of 52.4 ms: 23.5 % less.", why nothing can be predicted, or what to do.
  [[nodiscard]] QString summary() const { return summary_; }
  /// What the prediction does not know; may be empty.
  [[nodiscard]] QString doubts() const { return doubts_; }

 Q_SIGNALS:
  void answered();
  void added();                      ///< what add() was given is a fix
  void refused(const QString& why);  ///< it is none

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  /// A fix that can be tried, and what it saves by itself once that was computed.
  struct Row {
    QString text;
    QString meaning;
    bool chosen = false;
    QString gain{};
  };
  using Answer = Result<analyzer::WhatIfAnswer>;
  void reload();
  void ask();
  void take(const std::vector<std::string>& fixes, const Answer& answer);
  void say(const QString& summary, const QString& doubts);

  Session& session_;
  std::vector<Row> rows_;
  QString summary_;
  QString doubts_;
  QString added_;  // last; until it is answered
  LatestJob job_;
};

}  // namespace rankscope::gui
