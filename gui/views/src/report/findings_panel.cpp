// What is wrong with the run; a click goes where it is to be seen.
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>

#include "base/panel_parts.h"
#include "rankscope/gui/models/report/findings_model.h"
#include "rankscope/gui/models/report/verdict_words.h"

namespace rankscope::gui {
namespace {

class FindingsPanel : public QWidget {
 public:
  FindingsPanel(Session& session, QWidget* parent) : QWidget(parent), model_(session) {
    QVBoxLayout* const parts = make_rows(*this);
    parts->setContentsMargins(0, 0, 0, 0);
    parts->addWidget(&note_);
    parts->addWidget(&pages_, 1);
    let_shrink(pages_);
    pages_.addWidget(&table_);
    pages_.addWidget(&empty_);
    note_.setObjectName(QStringLiteral("findings_note"));
    note_.setWordWrap(true);
    note_.setMargin(4);
    empty_.setObjectName(QStringLiteral("findings_empty"));
    for (QLabel* const one : {&note_, &empty_}) {
      one->setTextFormat(Qt::RichText);
      one->setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
      connect(one, &QLabel::linkActivated, this, [this](const QString& panel) { show_panel_of_window(*this, panel); });
    }
    table_.setObjectName(QStringLiteral("findings_table"));
    table_.setAccessibleName(tr("Findings, the worst first"));
    table_.setModel(&model_);
    table_.setSelectionBehavior(QAbstractItemView::SelectRows);
    table_.setSelectionMode(QAbstractItemView::SingleSelection);
    table_.setTabKeyNavigation(false);
    table_.verticalHeader()->hide();
    table_.horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_.horizontalHeader()->setSectionResizeMode(FindingsModel::title, QHeaderView::Stretch);
    table_.setWordWrap(true);
    keep_rows_whole(table_);
    empty_.setAlignment(Qt::AlignCenter);
    empty_.setWordWrap(true);
    on_choice(table_, this, [this](const QModelIndex& index) { model_.go_to(index.row()); });
    add_table_menu(table_);
    connect(table_.selectionModel(), &QItemSelectionModel::selectionChanged, this, [this, &session] {
      const QModelIndexList rows = table_.selectionModel()->selectedRows();
      if (!rows.isEmpty()) session.select_finding(static_cast<std::size_t>(rows.front().row()));
    });
    connect(&session, &Session::findingChanged, this, [this, &session] {
      session.finding() ? table_.selectRow(static_cast<int>(*session.finding())) : table_.clearSelection();
    });
    connect(&model_, &FindingsModel::modelReset, this, &FindingsPanel::show_what_there_is);
    connect(&session, &Session::stateChanged, this, &FindingsPanel::show_what_there_is);
    show_what_there_is();
  }

 private:
  /// The tooltip has the reasons that are left out; as rich text, it is wrapped.
  void say(QLabel& label, const QString& sentences) {
    const QString whole = model_.whole_note();
    label.setText(with_links_to_panels(sentences));
    label.setToolTip(whole.isEmpty() || whole == sentences ? QString{}
                                                           : QStringLiteral("<p>%1</p>").arg(whole.toHtmlEscaped()));
    label.setAccessibleName(sentences);
  }

  void show_what_there_is() {
    say(empty_, model_.why_empty());
    say(note_, model_.note());
    note_.setVisible(!note_.text().isEmpty());
    pages_.setCurrentIndex(model_.rowCount() > 0 ? 0 : 1);
    table_.resizeRowsToContents();
  }

  FindingsModel model_;
  QLabel note_;
  QStackedWidget pages_;
  QTableView table_;
  QLabel empty_;
};

}  // namespace

QWidget* make_findings_panel(Session& session, QWidget* parent) { return new FindingsPanel(session, parent); }

}  // namespace rankscope::gui
