// What took the time of what is selected or in sight.
#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "base/panel_parts.h"
#include "rankscope/gui/models/statistics/statistics_model.h"

namespace rankscope::gui {
namespace {

class StatisticsPanel : public LazyPanel {
 public:
  StatisticsPanel(Session& session, QWidget* parent)
      : LazyPanel(parent), statistics_(session), ranks_(statistics_), names_(statistics_) {
    QVBoxLayout* const rows = make_rows(*this);
    caption_.setObjectName(QStringLiteral("statistics_caption"));
    rows->addWidget(&caption_);
    rows->addWidget(&tabs_, 1);
    tabs_.setObjectName(QStringLiteral("statistics_tabs"));
    tabs_.setAccessibleName(tr("Statistics by rank and by name"));
    tabs_.setDocumentMode(true);
    add_table(rank_table_, sorted_ranks_, ranks_, tr("By rank"), QStringLiteral("rank_times"));
    add_table(name_table_, sorted_names_, names_, tr("By name"), QStringLiteral("name_times"));
    rank_table_.sortByColumn(RankTimesModel::rank, Qt::AscendingOrder);
    name_table_.sortByColumn(NameTimesModel::own, Qt::DescendingOrder);
    name_table_.horizontalHeader()->setSectionResizeMode(NameTimesModel::name, QHeaderView::Stretch);
    connect(&statistics_, &Statistics::changed, this, &StatisticsPanel::show_caption);
    connect(&session, &Session::areaChanged, this, &StatisticsPanel::show_caption);
    show_caption();
  }

 protected:
  void set_active(bool active) override { statistics_.set_active(active); }

 private:
  void add_table(QTableView& table, QSortFilterProxyModel& sorted, QAbstractItemModel& model, const QString& title,
                 const QString& object_name) {
    sorted.setSourceModel(&model);
    sorted.setSortRole(Qt::UserRole);
    set_up_table(table, sorted, title, object_name);
    table.setSortingEnabled(true);
    connect(table.horizontalHeader(), &QHeaderView::sortIndicatorChanged, &table, &QTableView::scrollToTop);
    tabs_.addTab(&table, title);
  }

  void show_caption() { caption_.setText(statistics_.caption()); }

  Statistics statistics_;
  RankTimesModel ranks_;
  NameTimesModel names_;
  QSortFilterProxyModel sorted_ranks_;
  QSortFilterProxyModel sorted_names_;
  QLabel caption_;
  QTabWidget tabs_;
  QTableView rank_table_;
  QTableView name_table_;
};

}  // namespace

QWidget* make_statistics_panel(Session& session, QWidget* parent) { return new StatisticsPanel(session, parent); }

}  // namespace rankscope::gui
