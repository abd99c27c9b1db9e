// What took the time of what is selected, else of what is in sight.
#pragma once

#include <optional>

#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/closer_looks.h"
#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/statistics/range_statistics.h"

namespace rankscope::gui {

/// Asks again, in the background, whenever area, visible range, filter or run change. Until the new answer is there the
/// old one stays.
class Statistics : public QObject {
  Q_OBJECT

 public:
  explicit Statistics(Session& session, QObject* parent = nullptr);

  /// Nothing is computed for what nobody sees; it begins as passive.
  void set_active(bool active);
  [[nodiscard]] const std::optional<RangeAnswer>& answer() const { return answer_; }
  [[nodiscard]] const Session& session() const { return session_; }
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "Selected: 12.3 ms from 1.2 s on, 2 ranks"
  [[nodiscard]] QString caption() const;

 Q_SIGNALS:
  void changed();  ///< there is another answer, or none

 private:
  void forget();
  void ask();
  [[nodiscard]] RangeQuestion question() const;

  Session& session_;
  CloserLooks& looks_;
  bool active_ = false;
  bool stale_ = true;
  std::shared_ptr<const LaneBlocks> blocks_;
  std::shared_ptr<const Run> blocks_of_;
  std::optional<RangeAnswer> answer_;
  LatestJob job_;
};

/// A row per rank: parts that add up to the range. Qt::UserRole has numbers to sort by.
class RankTimesModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { rank, compute, moving, waiting, unsplit, copies, idle, all, overlap };
  explicit RankTimesModel(const Statistics& statistics, QObject* parent = nullptr);

 private:
  [[nodiscard]] std::size_t row_count() const override {
    return statistics_.answer() ? statistics_.answer()->ranks.size() : 0;
  }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  const Statistics& statistics_;
};

/// A row per name and kind. Qt::UserRole has numbers to sort by.
class NameTimesModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { name, kind, calls, own, share, total, mean, longest };
  explicit NameTimesModel(const Statistics& statistics, QObject* parent = nullptr);

 private:
  [[nodiscard]] std::size_t row_count() const override {
    return statistics_.answer() ? statistics_.answer()->names.size() : 0;
  }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  [[nodiscard]] QVariant number(const NameTimes& row, Column column) const;

  const Statistics& statistics_;
  std::int64_t self_ns_ = 0;  // of all rows
};

}  // namespace rankscope::gui
