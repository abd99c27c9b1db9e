// What a step would take if something were fixed.
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "rankscope/gui/models/report/what_if_model.h"

namespace rankscope::gui {
namespace {

class WhatIfPanel : public QWidget {
 public:
  WhatIfPanel(Session& session, QWidget* parent) : QWidget(parent), model_(session) {
    QVBoxLayout* const rows = make_rows(*this);
    summary_.setObjectName(QStringLiteral("what_if_summary"));
    summary_.setWordWrap(true);
    QFont strong = summary_.font();
    strong.setBold(true);
    summary_.setFont(strong);
    doubts_.setWordWrap(true);
    rows->addWidget(&summary_);
    rows->addWidget(&table_, 1);
    rows->addLayout(make_other());
    rows->addWidget(&wrong_);
    rows->addWidget(&doubts_);
    wrong_.setObjectName(QStringLiteral("what_if_wrong"));
    wrong_.setWordWrap(true);
    wrong_.hide();
    wrong_text_.set(true);
    set_up_table(table_, model_, tr("Fixes to choose from"), QStringLiteral("what_if_table"));
    table_.horizontalHeader()->setSectionResizeMode(WhatIfModel::meaning, QHeaderView::Stretch);
    table_.setWordWrap(true);
    keep_rows_whole(table_);
    connect(&model_, &WhatIfModel::added, &other_, &QLineEdit::clear);
    connect(&model_, &WhatIfModel::refused, this, [this](const QString& why) {
      wrong_.setText(why);
      wrong_.show();
    });
    connect(&other_, &QLineEdit::textChanged, &wrong_, &QLabel::hide);
    connect(&model_, &WhatIfModel::answered, this, &WhatIfPanel::show_answer);
    show_answer();
  }

 private:
  QHBoxLayout* make_other() {
    auto* const line = new QHBoxLayout;
    other_.setObjectName(QStringLiteral("what_if_other"));
    other_.setAccessibleName(tr("Another fix, written as for --fix on the command line"));
    other_.setPlaceholderText(tr("Another fix: op:aten::mm*0.5, host:node3, group:dp*0.5, ..."));
    other_.setToolTip(other_.placeholderText());
    add_.setText(tr("&Add"));
    line->addWidget(&other_, 1);
    line->addWidget(&add_);
    const auto add = [this] { model_.add(other_.text()); };
    connect(&add_, &QPushButton::clicked, this, add);
    connect(&other_, &QLineEdit::returnPressed, this, add);
    return line;
  }

  void show_answer() {
    summary_.setText(model_.summary());
    doubts_.setText(model_.doubts());
    doubts_.setVisible(!doubts_.text().isEmpty());
    const bool any = model_.rowCount() > 0;
    other_.setEnabled(any);
    add_.setEnabled(any);
    table_.resizeRowsToContents();
  }

  WhatIfModel model_;
  QLabel summary_;
  QTableView table_;
  QLineEdit other_;
  QLabel wrong_;
  WrongText wrong_text_{wrong_};
  QPushButton add_;
  QLabel doubts_;
};

}  // namespace

QWidget* make_what_if_panel(Session& session, QWidget* parent) { return new WhatIfPanel(session, parent); }

}  // namespace rankscope::gui
