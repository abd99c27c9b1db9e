// SQL over the tables of the run that is open.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <memory>
#include <vector>

#include "rankscope/analyzer/query.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// A query and the name that it was saved with.
struct SavedQuery {
  QString name;
  QString sql;
  bool operator==(const SavedQuery&) const = default;
};
/// Those that come with the viewer, then the user's own, by name (settings, queries/<name>).
[[nodiscard]] std::vector<SavedQuery> saved_queries();
/// Takes the place of the user's query of this name. Queries that come with the viewer stay.
void save_query(const SavedQuery& query);
void remove_query(const QString& name);

/// The rows that the last query answered. The tables are made in memory when the first query of a run is asked.
class QueryModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr std::size_t most_rows = 100'000;
  explicit QueryModel(Session& session, QObject* parent = nullptr);

  /// In the background; the last one counts. Table `selection` has the selected event, or those that start in the
  /// selected range on its lanes.
  void ask(const QString& sql);
  void stop();
  /// An answer is waited for.
  [[nodiscard]] bool busy() const { return busy_; }
  /// "12 rows", what is wrong with the query, or what is being waited for; empty before the first.
  [[nodiscard]] QString summary() const { return summary_; }
  [[nodiscard]] bool is_wrong() const { return is_wrong_; }
  /// Selects the event of a row that has its number in a column span_id, and shows it.
  void go_to(int row);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 Q_SIGNALS:
  void answered();  ///< rows or summary are others

 private:
  void forget();
  void take(const Result<analyzer::QueryAnswer>& answer);
  void say(const QString& summary, bool is_wrong);

  /// Shared with the work in the background, which makes it.
  struct Tables {
    std::shared_ptr<const Run> run;
    std::shared_ptr<analyzer::QueryDatabase> database;
  };

  Session& session_;
  std::shared_ptr<Tables> tables_;
  analyzer::QueryAnswer answer_;
  QString summary_;
  bool is_wrong_ = false;
  bool busy_ = false;
  LatestJob job_;
};

}  // namespace rankscope::gui
