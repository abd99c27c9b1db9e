// Everything about the selected event or finding; of a part of an operation all members.
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "base/panel_parts.h"
#include "rankscope/gui/models/details/details_model.h"

namespace rankscope::gui {
namespace {

/// A line may end after the signs between the words of a name, and wherever a word is long: names of kernels have no
/// spaces.
QString with_places_to_break(const QString& text) {
  constexpr QChar here{0x200B};  // a space without width
  constexpr int longest = 16;    // letters that stay together
  const QString between = QStringLiteral("_:<>,(){}[]/&|=*");
  QString broken;
  int together = 0;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const QChar letter = text[i];
    broken += letter;
    together = letter.isLetterOrNumber() ? together + 1 : 0;
    const bool ends_word = between.contains(letter) && i + 1 < text.size() && !text[i + 1].isDigit();
    if (!ends_word && together < longest) continue;
    broken += here;
    together = 0;
  }
  return broken;
}

/// Wraps a cell anywhere rather than cutting it off. What is copied has no marks for that.
class WrappedAnywhere : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  [[nodiscard]] QString displayText(const QVariant& value, const QLocale& locale) const override {
    return with_places_to_break(QStyledItemDelegate::displayText(value, locale));
  }
};

/// Values have most of the width, however long the names of properties are.
class PropertyTable : public QTableView {
 public:
  using QTableView::QTableView;

  void share_width() {
    const int most = viewport()->width() * 2 / 5;
    setColumnWidth(DetailsModel::property, std::min(width_of_names(), most));
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTableView::resizeEvent(event);
    share_width();
  }

 private:
  [[nodiscard]] int width_of_names() const {
    int widest = horizontalHeader()->sectionSizeHint(DetailsModel::property);
    for (int row = 0; row < model()->rowCount(); ++row) {
      const QString name = model()->index(row, DetailsModel::property).data().toString();
      widest = std::max(widest, fontMetrics().horizontalAdvance(name) + 2 * fontMetrics().averageCharWidth());
    }
    return widest;
  }
};

class DetailsPanel : public QWidget {
 public:
  DetailsPanel(Session& session, QWidget* parent) : QWidget(parent), details_(session), members_(session) {
    make_head();
    make_tables();
    connect(&details_, &DetailsModel::modelReset, this, &DetailsPanel::show_what_there_is);
    connect(&members_, &MembersModel::modelReset, this, &DetailsPanel::show_what_there_is);
    connect(&session, &Session::visibleRangeChanged, this,
            [this] { out_of_sight_.setVisible(details_.is_out_of_sight()); });
    show_what_there_is();
  }

  /// The same whatever is shown: the timeline beside it must not move below the mouse.
  [[nodiscard]] QSize sizeHint() const override { return {text_width(44), text_width(40)}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {text_width(20), 4 * text_width(3)}; }

 private:
  [[nodiscard]] int text_width(int letters) const { return letters * fontMetrics().averageCharWidth(); }

  void make_head() {
    QVBoxLayout* const rows = make_rows(*this);
    auto* const head = new QHBoxLayout;
    title_.setObjectName(QStringLiteral("details_title"));
    title_.setWordWrap(true);
    title_.setTextInteractionFlags(Qt::TextSelectableByMouse);
    copy_.setText(tr("Copy"));
    copy_.setObjectName(QStringLiteral("details_copy"));
    copy_.setAccessibleName(tr("Copy the details as text"));
    copy_.setToolTip(copy_.accessibleName());
    head->addWidget(&title_, 1);
    head->addWidget(&copy_, 0, Qt::AlignTop);
    out_of_sight_.setObjectName(QStringLiteral("details_out_of_sight"));
    out_of_sight_.setText(tr("The event is outside the visible range. Timeline > Centre the selection shows it."));
    out_of_sight_.setWordWrap(true);
    rows->addLayout(head);
    rows->addWidget(&out_of_sight_);
    rows->addWidget(&parts_, 1);
    connect(&copy_, &QPushButton::clicked, this, [this] {
      const QString members = details_.shows_stretch() ? QString{} : members_.as_text();
      QApplication::clipboard()->setText(details_.as_text() + members);
    });
  }

  void make_tables() {
    set_up_table(table_, details_, tr("Details of the selected event or finding"), QStringLiteral("details_table"));
    table_.horizontalHeader()->setSectionResizeMode(DetailsModel::property, QHeaderView::Interactive);
    table_.horizontalHeader()->setSectionResizeMode(DetailsModel::value, QHeaderView::Stretch);
    table_.setItemDelegate(new WrappedAnywhere(&table_));
    table_.setWordWrap(true);
    keep_rows_whole(table_);
    set_up_table(member_table_, members_, tr("Members of the operation"), QStringLiteral("members_table"));
    member_table_.horizontalHeader()->setStretchLastSection(true);
    on_choice(table_, this, [this](const QModelIndex& index) { details_.go_to(index.row()); });
    on_choice(member_table_, this, [this](const QModelIndex& index) { members_.go_to(index.row()); });
    parts_.setOrientation(Qt::Vertical);
    parts_.addWidget(&table_);
    auto* const lower = new QVBoxLayout(&operation_);
    lower->setContentsMargins(0, 4, 0, 0);
    verdict_.setWordWrap(true);
    verdict_.setObjectName(QStringLiteral("members_verdict"));
    lower->addWidget(&verdict_);
    lower->addWidget(&member_table_, 1);
    parts_.addWidget(&operation_);
    parts_.setStretchFactor(0, 3);
    parts_.setStretchFactor(1, 2);
  }

  void show_what_there_is() {
    const QString title = details_.title();
    title_.setText(title.isEmpty() ? tr("Select an event, a time range or a finding to see its details.") : title);
    copy_.setEnabled(!title.isEmpty());
    parts_.setVisible(!title.isEmpty());
    out_of_sight_.setVisible(details_.is_out_of_sight());
    verdict_.setText(details_.shows_stretch() ? QString{} : members_.verdict());
    operation_.setVisible(!verdict_.text().isEmpty());
    member_table_.setVisible(members_.rowCount() > 0);
    table_.share_width();
    table_.resizeRowsToContents();
  }

  DetailsModel details_;
  MembersModel members_;
  QLabel title_;
  QLabel out_of_sight_;
  QPushButton copy_;
  QSplitter parts_;
  PropertyTable table_;
  QWidget operation_;
  QLabel verdict_;
  QTableView member_table_;
};

}  // namespace

QWidget* make_details_panel(Session& session, QWidget* parent) { return new DetailsPanel(session, parent); }

}  // namespace rankscope::gui
