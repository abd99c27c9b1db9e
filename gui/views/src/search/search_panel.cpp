// Spans by name, with a histogram of their durations.
#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QTableView>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/search/search_model.h"

namespace rankscope::gui {
namespace {

/// How many hits took how long: a bar for each power of two of nanoseconds.
class Histogram : public QWidget {
 public:
  explicit Histogram(const SearchModel& model, QWidget* parent = nullptr) : QWidget(parent), model_(model) {
    setMinimumHeight(3 * fontMetrics().height() + 12);
    setAccessibleName(tr("Histogram of durations"));
    setObjectName(QStringLiteral("search_histogram"));
  }

  /// First and last bar that is not empty; first > last: none.
  [[nodiscard]] std::pair<std::size_t, std::size_t> shown() const {
    const auto& counts = model_.result().histogram;
    std::size_t first = counts.size();
    std::size_t last = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) {
        first = std::min(first, i);
        last = i;
      }
    return {first, last};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter{this};
    const auto [first, last] = shown();
    if (first > last) return;
    const auto& counts = model_.result().histogram;
    const std::uint64_t most = *std::ranges::max_element(counts);
    const int text = fontMetrics().height();
    const double base = height() - text - 4;
    const auto stride =
        1 + static_cast<std::size_t>(fontMetrics().horizontalAdvance(QStringLiteral("888 ms ")) / bar(first).width());
    painter.setPen(palette().color(QPalette::Mid));
    painter.drawLine(QPointF{0, base}, QPointF{static_cast<double>(width()), base});
    for (std::size_t i = first; i <= last; ++i) {
      const QRectF room = bar(i);
      // The logarithm keeps one slow call among thousands in sight.
      const double share =
          counts[i] == 0 ? 0 : std::log1p(static_cast<double>(counts[i])) / std::log1p(static_cast<double>(most));
      const double height = counts[i] == 0 ? 0 : std::max(2.0, share * (base - text));
      painter.fillRect(QRectF{room.left(), base - height, room.width() - 1, height}, palette().highlight());
      painter.setPen(palette().color(QPalette::Text));
      const QString count = QString::number(counts[i]);
      if (counts[i] > 0 && fontMetrics().horizontalAdvance(count) < room.width())
        painter.drawText(QRectF{room.left(), base - height - text, room.width(), static_cast<double>(text)},
                         Qt::AlignCenter, count);
      if ((i - first) % stride != 0) continue;
      painter.drawText(QRectF{room.left() + 1, base + 2, room.width() * static_cast<double>(stride), text + 2.0},
                       Qt::AlignLeft, limit_text(lower(i)));
    }
  }

  bool event(QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    const auto [first, last] = shown();
    for (std::size_t i = first; i <= last && first <= last; ++i)
      if (bar(i).left() <= help->pos().x() && help->pos().x() < bar(i).right())
        QToolTip::showText(
            help->globalPos(),
            tr("%1 took %2 to %3").arg(model_.result().histogram[i]).arg(time_text(lower(i)), time_text(lower(i + 1))));
    return true;
  }

 private:
  static nanoseconds lower(std::size_t i) {
    return nanoseconds{i == 0 ? 0 : std::int64_t{1} << std::min<std::size_t>(i - 1, 62)};
  }
  /// "16 ms": limits are powers of two of nanoseconds, so that digits behind the point would say little.
  static QString limit_text(nanoseconds limit) {
    const std::int64_t ns = limit.count();
    if (ns < 1'000) return QStringLiteral("%1 ns").arg(ns);
    if (ns < 1'000'000) return QStringLiteral("%1 µs").arg(ns / 1'000);
    return ns < 1'000'000'000 ? QStringLiteral("%1 ms").arg(ns / 1'000'000)
                              : QStringLiteral("%1 s").arg(ns / 1'000'000'000);
  }
  [[nodiscard]] QRectF bar(std::size_t i) const {
    const auto [first, last] = shown();
    const double each = std::min(72.0, static_cast<double>(width()) / static_cast<double>(last - first + 1));
    return {each * static_cast<double>(i - first), 0, each, static_cast<double>(height())};
  }

  const SearchModel& model_;
};

class SearchPanel : public QWidget {
 public:
  SearchPanel(Session& session, QWidget* parent)
      : QWidget(parent), session_(session), model_(session), histogram_(model_) {
    QVBoxLayout* const rows = make_rows(*this);
    rows->addLayout(make_head());
    rows->addWidget(&summary_);
    rows->addWidget(&histogram_);
    rows->addWidget(&table_, 1);
    let_shrink(table_);
    summary_.setObjectName(QStringLiteral("search_summary"));
    summary_.setWordWrap(true);
    make_table();
    connect(&session, &Session::filterChanged, this, &SearchPanel::follow_timeline);
    connect(&model_, &SearchModel::found, this, &SearchPanel::show_what_there_is);
    connect(&model_, &SearchModel::found, this, &SearchPanel::show_first);
    connect(&model_, &SearchModel::currentChanged, this, [this](int row) {
      if (row >= 0) table_.selectRow(row);
    });
    show_what_there_is();
  }

 protected:
  void showEvent(QShowEvent* event) override {
    QWidget::showEvent(event);
    follow_timeline();
  }
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
    const auto& key = *static_cast<QKeyEvent*>(event);
    const bool is_return = key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter;
    if (!is_return || !key.modifiers().testFlag(Qt::ShiftModifier)) return QWidget::eventFilter(watched, event);
    model_.previous();
    return true;
  }

 private:
  /// What was searched for in the timeline is looked for here, too.
  void follow_timeline() {
    const QString lit = QString::fromStdString(session_.filter().text);
    if (!isVisible() || lit == followed_) return;
    const bool is_own = text_.text() != followed_;
    followed_ = lit;
    if (lit.isEmpty() && is_own) return;
    regex_.setChecked(false);
    text_.setText(lit);
  }

  QHBoxLayout* make_head() {
    auto* const head = new QHBoxLayout;
    text_.setObjectName(QStringLiteral("search_text"));
    text_.setAccessibleName(tr("Find in event names"));
    text_.setPlaceholderText(tr("Find in short and full names"));
    text_.setClearButtonEnabled(true);
    regex_.setText(tr("&Regular expression"));
    regex_.setObjectName(QStringLiteral("search_regex"));
    in_sight_.setText(tr("Visible ran&ge only"));
    in_sight_.setObjectName(QStringLiteral("search_in_sight"));
    in_sight_.setToolTip(tr("Counts only events in the visible range"));
    set_up_button(previous_, Qt::UpArrow, tr("Previous hit (Shift+Enter)"));
    set_up_button(next_, Qt::DownArrow, tr("Next hit (Enter)"));
    head->addWidget(&text_, 1);
    head->addWidget(&regex_);
    head->addWidget(&in_sight_);
    head->addWidget(&previous_);
    head->addWidget(&next_);
    connect(&text_, &QLineEdit::textChanged, this, &SearchPanel::look);
    connect(&regex_, &QCheckBox::toggled, this, &SearchPanel::look);
    connect(&in_sight_, &QCheckBox::toggled, &model_, &SearchModel::set_in_sight);
    connect(&previous_, &QToolButton::clicked, &model_, &SearchModel::previous);
    connect(&next_, &QToolButton::clicked, &model_, &SearchModel::next);
    connect(&text_, &QLineEdit::returnPressed, &model_, &SearchModel::next);
    text_.installEventFilter(this);
    return head;
  }

  static void set_up_button(QToolButton& button, Qt::ArrowType arrow, const QString& says) {
    button.setArrowType(arrow);
    button.setToolTip(says);
    button.setAccessibleName(says);
    button.setFocusPolicy(Qt::TabFocus);
  }

  void make_table() {
    set_up_table(table_, model_, tr("Hits"), QStringLiteral("search_hits"));
    table_.horizontalHeader()->setSectionResizeMode(SearchModel::name, QHeaderView::Stretch);
    table_.horizontalHeader()->setSortIndicator(SearchModel::start, Qt::AscendingOrder);
    table_.setSortingEnabled(true);
    connect(table_.horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &SearchPanel::keep_arrow);
    on_choice(table_, this, [this](const QModelIndex& index) { model_.go_to(index.row()); });
  }

  /// The arrow stays at a column that has an order.
  void keep_arrow(int column, Qt::SortOrder direction) {
    if (SearchModel::can_sort(column)) {
      other_order_ = other_order_ || sorted_ != std::pair{column, direction};
      sorted_ = {column, direction};
    } else {
      table_.horizontalHeader()->setSortIndicator(sorted_.first, sorted_.second);
    }
  }

  /// Of another order: the hits that come first are looked for, whichever is selected.
  void show_first() {
    if (!std::exchange(other_order_, false)) return;
    // After the selected hit was scrolled to.
    QMetaObject::invokeMethod(
        &table_, [this] { table_.scrollToTop(); }, Qt::QueuedConnection);
  }

  void look() { model_.look_for(text_.text(), regex_.isChecked() ? SearchSyntax::regex : SearchSyntax::plain); }

  void show_what_there_is() {
    summary_.setText(model_.summary());
    wrong_.set(model_.is_wrong() || model_.has_no_match());
    const bool any = model_.rowCount() > 0;
    histogram_.setVisible(any);
    histogram_.update();
    next_.setEnabled(any);
    previous_.setEnabled(any);
  }

  Session& session_;
  SearchModel model_;
  QString followed_;  // of the timeline's search
  std::pair<int, Qt::SortOrder> sorted_{SearchModel::start, Qt::AscendingOrder};
  bool other_order_ = false;  // was asked for and is not there yet
  QLineEdit text_;
  QCheckBox regex_;
  QCheckBox in_sight_;
  QToolButton previous_;
  QToolButton next_;
  QLabel summary_;
  WrongText wrong_{summary_};
  Histogram histogram_;
  QTableView table_;
};

}  // namespace

QWidget* make_search_panel(Session& session, QWidget* parent) { return new SearchPanel(session, parent); }

}  // namespace rankscope::gui
