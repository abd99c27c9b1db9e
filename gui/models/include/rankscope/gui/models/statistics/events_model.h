// The same as the timeline, as a table: the events of one lane in the visible range.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/statistics/range_statistics.h"

namespace rankscope::gui {

/// The lane is that of the selected event, or the one that was set last.
class EventsModel : public TableModel {
  Q_OBJECT

 public:
  static constexpr std::size_t most_listed = 100'000;
  enum Column : int { start, length, name, kind, depth };
  explicit EventsModel(Session& session, QObject* parent = nullptr);

  /// Nothing is listed for what nobody sees; it begins as passive.
  void set_active(bool active);
  /// A lane that can be chosen, as the list of lanes names it.
  struct NamedLane {
    QString path;  ///< "rank 0 / main"
    LaneId lane;
  };
  /// Those of one process and kind by the numbers in their names.
  [[nodiscard]] std::vector<NamedLane> lanes() const;
  [[nodiscard]] std::optional<LaneId> lane() const { return lane_; }
  void set_lane(LaneId lane);
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "212 events of rank 0 / main in the visible 12.3 ms"
  [[nodiscard]] QString caption() const;
  /// Row of the selected event; -1: it is not listed.
  [[nodiscard]] int selected_row() const;
  void go_to(int row);

 Q_SIGNALS:
  void lanesChanged();
  void laneChanged();

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  void take_run();
  void follow_selection();
  void ask();

  Session& session_;
  bool active_ = false;
  bool stale_ = true;
  std::optional<LaneId> lane_;
  std::shared_ptr<const LaneBlocks> blocks_;
  std::shared_ptr<const Run> blocks_of_;
  std::vector<SpanId> rows_;
  bool cut_ = false;
  LatestJob job_;
};

}  // namespace rankscope::gui
