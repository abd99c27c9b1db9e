// The processes of a run that is being recorded, as a table.
#pragma once

#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/record/live_preview.h"

namespace rankscope::gui {

/// A row per process that records itself, by rank.
class LiveTable : public TableModel {
  Q_OBJECT

 public:
  /// In the order of the screen.
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
    lost
  };
  explicit LiveTable(LivePreview& preview, QObject* parent = nullptr);

 private:
  [[nodiscard]] std::size_t row_count() const override { return view_->processes.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  void take();
  [[nodiscard]] QString text(std::size_t row, Column column) const;

  LivePreview& preview_;
  std::shared_ptr<const recording::LiveView> view_;  // of the rows
  std::vector<LiveSummary> summaries_;
};

}  // namespace rankscope::gui
