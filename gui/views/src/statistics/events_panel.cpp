// The events of a lane as a table, for who cannot see the timeline.
#include <QAbstractItemView>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "base/panel_parts.h"
#include "rankscope/gui/models/statistics/events_model.h"

namespace rankscope::gui {
namespace {

class EventsPanel : public LazyPanel {
 public:
  EventsPanel(Session& session, QWidget* parent) : LazyPanel(parent), model_(session) {
    QVBoxLayout* const rows = make_rows(*this);
    lane_.setObjectName(QStringLiteral("events_lane"));
    lane_.setAccessibleName(tr("Rank and lane"));
    lane_.view()->setTextElideMode(Qt::ElideMiddle);  // numbers are at the end
    caption_.setObjectName(QStringLiteral("events_caption"));
    rows->addWidget(&lane_);
    rows->addWidget(&caption_);
    rows->addWidget(&table_, 1);
    set_up_table(table_, model_, tr("Events of the lane in the visible range"), QStringLiteral("events_table"));
    table_.horizontalHeader()->setSectionResizeMode(EventsModel::name, QHeaderView::Stretch);
    on_choice(table_, this, [this](const QModelIndex& index) { model_.go_to(index.row()); });
    connect(&lane_, &QComboBox::activated, this,
            [this](int place) { model_.set_lane(LaneId{lane_.itemData(place).toUInt()}); });
    connect(&model_, &EventsModel::lanesChanged, this, &EventsPanel::list_lanes);
    connect(&model_, &EventsModel::laneChanged, this, &EventsPanel::show_lane);
    connect(&model_, &EventsModel::modelReset, this, &EventsPanel::show_selected);
    connect(&session, &Session::selectionChanged, this, &EventsPanel::show_selected);
    list_lanes();
    show_lane();
    show_selected();
  }

 protected:
  void set_active(bool active) override { model_.set_active(active); }

 private:
  void list_lanes() {
    lane_.clear();
    for (const auto& [path, lane] : model_.lanes()) lane_.addItem(path, lane.value);
  }
  void show_lane() { lane_.setCurrentIndex(model_.lane() ? lane_.findData(model_.lane()->value) : -1); }
  void show_selected() {
    caption_.setText(model_.caption());
    if (const int row = model_.selected_row(); row >= 0) table_.selectRow(row);
  }

  EventsModel model_;
  QComboBox lane_;
  QLabel caption_;
  QTableView table_;
};

}  // namespace

QWidget* make_events_panel(Session& session, QWidget* parent) { return new EventsPanel(session, parent); }

}  // namespace rankscope::gui
