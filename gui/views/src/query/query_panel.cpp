// SQL over the tables of the run, with saved queries.
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "rankscope/gui/models/query/query_model.h"

namespace rankscope::gui {
namespace {

class QueryPanel : public QWidget {
 public:
  QueryPanel(Session& session, QWidget* parent) : QWidget(parent), model_(session) {
    QVBoxLayout* const rows = make_rows(*this);
    rows->addLayout(make_head());
    sql_.setObjectName(QStringLiteral("query_sql"));
    sql_.setAccessibleName(tr("SQL query; Ctrl+Return runs it"));
    sql_.setPlaceholderText(tr("SELECT ... (docs/sqlite.md lists the tables; Ctrl+Return runs the query)"));
    sql_.setTabChangesFocus(true);
    sql_.setMinimumHeight(3 * fontMetrics().height());
    sql_.installEventFilter(this);
    setFocusProxy(&sql_);
    summary_.setObjectName(QStringLiteral("query_summary"));
    summary_.setWordWrap(true);
    rows->addWidget(&sql_, 1);
    rows->addWidget(&summary_);
    rows->addWidget(&table_, 2);
    set_up_table(table_, model_, tr("Answer of the query"), QStringLiteral("query_table"));
    let_shrink(table_);
    on_choice(table_, this, [this](const QModelIndex& index) { model_.go_to(index.row()); });
    connect(&model_, &QueryModel::answered, this, &QueryPanel::show_answer);
    list_queries();
    show_answer();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
    const auto& key = *static_cast<QKeyEvent*>(event);
    const bool is_return = key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter;
    if (!is_return || !key.modifiers().testFlag(Qt::ControlModifier)) return QWidget::eventFilter(watched, event);
    model_.ask(sql_.toPlainText());
    return true;
  }

 private:
  QHBoxLayout* make_head() {
    auto* const line = new QHBoxLayout;
    saved_.setObjectName(QStringLiteral("query_saved"));
    saved_.setAccessibleName(tr("Saved queries"));
    saved_.setToolTip(saved_.accessibleName());
    set_up(run_, "query_run", tr("Run"));
    set_up(stop_, "query_stop", tr("Stop"));
    set_up(save_, "query_save", tr("Save..."));
    set_up(remove_, "query_remove", tr("Remove"));
    line->addWidget(&saved_, 1);
    for (QPushButton* const button : {&run_, &stop_, &save_, &remove_}) line->addWidget(button);
    connect(&saved_, &QComboBox::activated, this,
            [this](int place) { sql_.setPlainText(saved_.itemData(place).toString()); });
    connect(&run_, &QPushButton::clicked, this, [this] { model_.ask(sql_.toPlainText()); });
    connect(&stop_, &QPushButton::clicked, &model_, &QueryModel::stop);
    connect(&save_, &QPushButton::clicked, this, &QueryPanel::ask_for_name);
    connect(&remove_, &QPushButton::clicked, this, [this] {
      remove_query(saved_.currentText());
      list_queries();
    });
    return line;
  }

  static void set_up(QPushButton& button, const char* name, const QString& text) {
    button.setObjectName(QString::fromLatin1(name));
    button.setText(text);
  }

  void list_queries() {
    saved_.clear();
    for (const SavedQuery& query : saved_queries()) saved_.addItem(query.name, query.sql);
    saved_.setCurrentIndex(-1);
    saved_.setPlaceholderText(tr("Saved queries"));
  }

  void ask_for_name() {
    auto* const dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("query_name"));
    dialog->setWindowTitle(tr("Save the query"));
    dialog->setLabelText(tr("Name of the query:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& name) {
      if (name.trimmed().isEmpty()) return;
      save_query({name.trimmed(), sql_.toPlainText()});
      list_queries();
      saved_.setCurrentText(name.trimmed());
    });
    dialog->open();
  }

  void show_answer() {
    summary_.setText(model_.summary());
    summary_.setVisible(!model_.summary().isEmpty());
    wrong_.set(model_.is_wrong());
    stop_.setEnabled(model_.busy());
  }

  QueryModel model_;
  QComboBox saved_;
  QPushButton run_;
  QPushButton stop_;
  QPushButton save_;
  QPushButton remove_;
  QPlainTextEdit sql_;
  QLabel summary_;
  WrongText wrong_{summary_};
  QTableView table_;
};

}  // namespace

QWidget* make_query_panel(Session& session, QWidget* parent) { return new QueryPanel(session, parent); }

}  // namespace rankscope::gui
