// Events by name, rank and step: a table that is asked in three fields.
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "base/panel_parts.h"
#include "rankscope/gui/models/statistics/pivot_model.h"

namespace rankscope::gui {
namespace {

class PivotPanel : public LazyPanel {
 public:
  PivotPanel(Session& session, QWidget* parent) : LazyPanel(parent), model_(session) {
    QVBoxLayout* const rows = make_rows(*this);
    rows->addLayout(make_question());
    rows->addLayout(make_foot());
    rows->addWidget(&table_, 1);
    set_up_table(table_, model_, tr("Events by name, rank and step"), QStringLiteral("pivot_table"));
    table_.setSelectionBehavior(QAbstractItemView::SelectItems);
    table_.horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
    table_.horizontalHeader()->setSortIndicator(1, Qt::DescendingOrder);
    table_.setSortingEnabled(true);
    let_shrink(table_);
    setFocusProxy(&text_);  // what is typed first is a name
    on_choice(table_, this, [this](const QModelIndex& index) { model_.go_to(index); });
    connect(table_.horizontalHeader(), &QHeaderView::sortIndicatorChanged, &table_, &QTableView::scrollToTop);
    connect(&model_, &PivotModel::computed, this, &PivotPanel::show_summary);
    connect(&model_, &PivotModel::modelReset, this, &PivotPanel::show_widths);
    show_summary();
  }

 protected:
  void set_active(bool active) override { model_.set_active(active); }

 private:
  QHBoxLayout* make_question() {
    auto* const line = new QHBoxLayout;
    text_.setObjectName(QStringLiteral("pivot_text"));
    text_.setPlaceholderText(tr("Part of the names, such as gemm"));
    text_.setAccessibleName(tr("Only events whose names contain this"));
    text_.setClearButtonEnabled(true);
    line->addWidget(&text_, 1);
    connect(&text_, &QLineEdit::textChanged, &model_, &PivotModel::look_for);
    set_up(kind_, "pivot_kind", tr("Kind of events"),
           {tr("All kinds"), tr("Kernels"), tr("Communication"), tr("Copies"), tr("Operators"), tr("Annotations"),
            tr("Python calls"), tr("CUDA and NCCL calls"), tr("Other")});
    set_up(rows_, "pivot_rows", tr("A row for each"),
           {tr("One row"), tr("Row: name"), tr("Row: rank"), tr("Row: step")});
    set_up(columns_, "pivot_columns", tr("A column for each"),
           {tr("One column"), tr("Column: name"), tr("Column: rank"), tr("Column: step")});
    set_up(value_, "pivot_value", tr("Values in the cells"),
           {tr("Sum"), tr("Count"), tr("Median"), tr("Longest"), tr("Share")});
    rows_.setCurrentIndex(static_cast<int>(PivotBy::name));
    columns_.setCurrentIndex(static_cast<int>(PivotBy::rank));
    model_.set_columns(PivotBy::rank);
    for (QComboBox* const box : {&kind_, &rows_, &columns_, &value_}) line->addWidget(box);
    connect(&kind_, &QComboBox::currentIndexChanged, this,
            [this](int place) { model_.set_kind(static_cast<PivotKind>(place)); });
    connect(&rows_, &QComboBox::currentIndexChanged, this,
            [this](int place) { model_.set_rows(static_cast<PivotBy>(place)); });
    connect(&columns_, &QComboBox::currentIndexChanged, this,
            [this](int place) { model_.set_columns(static_cast<PivotBy>(place)); });
    connect(&value_, &QComboBox::currentIndexChanged, this,
            [this](int place) { model_.set_value(static_cast<PivotValue>(place)); });
    return line;
  }

  QHBoxLayout* make_foot() {
    auto* const line = new QHBoxLayout;
    summary_.setObjectName(QStringLiteral("pivot_summary"));
    set_up(scope_, "pivot_scope", tr("Part of the run"), {tr("Whole run"), tr("Selected or visible range")});
    connect(&scope_, &QComboBox::currentIndexChanged, this,
            [this](int place) { model_.set_scope(static_cast<PivotModel::Scope>(place)); });
    copy_.setText(tr("Copy as CSV"));
    copy_.setObjectName(QStringLiteral("pivot_copy"));
    connect(&copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(model_.csv()); });
    line->addWidget(&summary_, 1);
    line->addWidget(&scope_);
    line->addWidget(&copy_);
    return line;
  }

  static void set_up(QComboBox& box, const char* name, const QString& accessible_name, const QStringList& entries) {
    box.setObjectName(QString::fromLatin1(name));
    box.setAccessibleName(accessible_name);
    box.setToolTip(accessible_name);
    box.addItems(entries);
  }

  void show_summary() {
    summary_.setText(model_.summary());
    copy_.setEnabled(model_.rowCount() > 0);
  }

  /// Names have room; the many columns of ranks and steps are not measured one by one.
  void show_widths() {
    if (model_.columnCount() == 0 || std::exchange(columns_shown_, model_.columnCount()) == model_.columnCount())
      return;
    constexpr int letters_of_names = 42;
    table_.horizontalHeader()->setDefaultSectionSize(12 * fontMetrics().averageCharWidth());
    table_.setColumnWidth(0, letters_of_names * fontMetrics().averageCharWidth());
  }

  PivotModel model_;
  QLineEdit text_;
  QComboBox kind_;
  QComboBox rows_;
  QComboBox columns_;
  QComboBox value_;
  QLabel summary_;
  QComboBox scope_;
  QPushButton copy_;
  QTableView table_;
  int columns_shown_ = 0;
};

}  // namespace

QWidget* make_pivot_panel(Session& session, QWidget* parent) { return new PivotPanel(session, parent); }

}  // namespace rankscope::gui
