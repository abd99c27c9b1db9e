// Efficiency and data quality: tables of words of the report.
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QTableView>

#include "base/panel_parts.h"
#include "rankscope/gui/models/report/report_table.h"

namespace rankscope::gui {
namespace {

/// A share has a bar behind its number.
class ShareBar : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QVariant share = index.data(ReportTableModel::share_role);
    if (share.isValid()) {
      QColor colour = option.palette.color(QPalette::Highlight);
      colour.setAlphaF(0.35F);
      const double width = share.toDouble() * (option.rect.width() - 4);
      painter->fillRect(QRectF{option.rect.left() + 2.0, option.rect.top() + 2.0, width, option.rect.height() - 4.0},
                        colour);
    }
    QStyledItemDelegate::paint(painter, option, index);
  }
};

struct ReportPanelWords {
  QString table;
  QString object_name;
  QString nothing;
  int wide_column;
};

class ReportPanel : public QWidget {
 public:
  ReportPanel(Session& session, const QStringList& columns, ReportTableModel::Fill fill, ReportPanelWords words,
              QWidget* parent)
      : QWidget(parent), model_(session, columns, std::move(fill)), words_(std::move(words)) {
    auto* const layout = new QStackedLayout(this);
    layout->addWidget(&table_);
    layout->addWidget(&empty_);
    set_up_table(table_, model_, words_.table, words_.object_name);
    table_.setItemDelegateForColumn(1, new ShareBar(&table_));
    table_.setAlternatingRowColors(false);  // bars are easier to compare on one ground
    table_.horizontalHeader()->setSectionResizeMode(words_.wide_column, QHeaderView::Stretch);
    empty_.setAlignment(Qt::AlignCenter);
    empty_.setWordWrap(true);
    connect(&model_, &ReportTableModel::modelReset, this, &ReportPanel::show_what_there_is);
    connect(&session, &Session::stateChanged, this, &ReportPanel::show_what_there_is);
    show_what_there_is();
  }

 private:
  void show_what_there_is() {
    empty_.setText(model_.why_empty(words_.nothing));
    static_cast<QStackedLayout*>(layout())->setCurrentIndex(model_.rowCount() > 0 ? 0 : 1);
    table_.setColumnWidth(1, 120);
  }

  ReportTableModel model_;
  ReportPanelWords words_;
  QTableView table_;
  QLabel empty_;
};

}  // namespace

QWidget* make_efficiency_panel(Session& session, QWidget* parent) {
  auto* const panel = new ReportPanel(
      session, {ReportTableModel::tr("Factor"), ReportTableModel::tr("Value"), ReportTableModel::tr("Meaning")},
      efficiency_rows,
      {ReportTableModel::tr("Efficiency factors"), QStringLiteral("efficiency_table"),
       ReportTableModel::tr("There is nothing to show."), 2},
      parent);
  panel->findChild<QTableView*>(QStringLiteral("efficiency_table"))
      ->horizontalHeader()
      ->setSectionResizeMode(1, QHeaderView::Interactive);
  return panel;
}

QWidget* make_quality_panel(Session& session, QWidget* parent) {
  return new ReportPanel(session,
                         {ReportTableModel::tr("Counter"), ReportTableModel::tr("Value"),
                          ReportTableModel::tr("Severity"), ReportTableModel::tr("Meaning and advice")},
                         quality_rows,
                         {ReportTableModel::tr("Lost and altered data"), QStringLiteral("quality_table"),
                          ReportTableModel::tr("Nothing was lost or altered."), 3},
                         parent);
}

}  // namespace rankscope::gui
