// The processes of a run that is being recorded, as a table.
#pragma once

#include <QAbstractTableModel>

#include "rankscope/gui/models/live_preview.h"

namespace rankscope::gui {

/// A row per process that records itself, by rank.
class LiveTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int {
    process,
    steps,
    last,
    median,
    compute,
    communication,
    copies,
    data_wait,
    wait,
    other,
    host_memory,
    device_memory,
    lost,
    column_count
  };
  explicit LiveTable(LivePreview& preview, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void take();
  [[nodiscard]] QString text(std::size_t row, Column column) const;

  LivePreview& preview_;
  std::shared_ptr<const recording::LiveView> view_;  // of the rows
  std::vector<LiveSummary> summaries_;
};

}  // namespace rankscope::gui
