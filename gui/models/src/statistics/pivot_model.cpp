#include "rankscope/gui/models/statistics/pivot_model.h"

#include <QLocale>
#include <algorithm>
#include <numeric>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

constexpr int key_column = 0;
constexpr int total_column = 1;

QString words_of(PivotBy by) {
  switch (by) {
    case PivotBy::nothing:
      return PivotModel::tr("All");
    case PivotBy::name:
      return PivotModel::tr("Name");
    case PivotBy::rank:
      return PivotModel::tr("Rank");
    case PivotBy::step:
      return PivotModel::tr("Step");
  }
  return {};
}

/// As a field of a comma-separated line: quoted where it has commas, quotes or ends of lines.
QString csv_field(QString text) {
  const auto needs_quotes = [](QChar letter) {
    return letter == QLatin1Char{','} || letter == QLatin1Char{'"'} || letter == QLatin1Char{'\n'} ||
           letter == QLatin1Char{'\r'};
  };
  if (std::ranges::none_of(text, needs_quotes)) return text;
  text.replace(QLatin1Char{'"'}, QStringLiteral("\"\""));
  return QLatin1Char{'"'} + text + QLatin1Char{'"'};
}

}  // namespace

PivotModel::PivotModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {
  connect(&session, &Session::runOpened, this, &PivotModel::forget);
  connect(&session, &Session::runChanged, this, &PivotModel::ask);
  connect(&session, &Session::reportChanged, this, &PivotModel::ask);
  connect(&session, &Session::filterChanged, this, &PivotModel::ask);
  const auto follow = [this] {
    if (scope_ == Scope::range) ask();
  };
  connect(&session, &Session::areaChanged, this, follow);
  connect(&session, &Session::visibleRangeChanged, this, follow);
}

void PivotModel::set_active(bool active) {
  active_ = active;
  if (active && stale_) ask();
  if (!active && job_.busy()) {
    job_.cancel();
    stale_ = true;
  }
}

void PivotModel::look_for(const QString& text) {
  question_.text = text.toStdString();
  ask();
}

void PivotModel::set_kind(PivotKind kind) {
  if (std::exchange(question_.kind, kind) != kind) ask();
}

void PivotModel::set_rows(PivotBy rows) {
  if (std::exchange(question_.rows, rows) != rows) ask();
}

void PivotModel::set_columns(PivotBy columns) {
  if (std::exchange(question_.columns, columns) != columns) ask();
}

void PivotModel::set_scope(Scope scope) {
  if (std::exchange(scope_, scope) != scope) ask();
}

void PivotModel::set_value(PivotValue value) {
  if (std::exchange(value_, value) == value) return;
  beginResetModel();
  arrange();
  endResetModel();
}

void PivotModel::forget() {
  job_.cancel();
  stale_ = true;
  beginResetModel();
  table_.reset();
  order_.clear();
  endResetModel();
  Q_EMIT computed();
}

void PivotModel::ask() {
  stale_ = true;
  if (!active_ || session_.run() == nullptr) return;
  stale_ = false;
  question_.ranks = session_.filter().ranks;
  std::ranges::sort(question_.ranks);
  question_.time = std::nullopt;
  if (scope_ == Scope::range) question_.time = session_.area() ? session_.area()->time : session_.visible();
  job_.start([this, run = session_.run(), report = session_.report(),
              question = question_](const std::stop_token& stop) -> LatestJob::Delivery {
    auto made = pivot(*run, report.get(), question, stop);
    if (!made) return {};
    return [this, table = std::make_shared<PivotTable>(*std::move(made))] { take(std::move(*table)); };
  });
}

void PivotModel::take(PivotTable table) {
  beginResetModel();
  table_ = std::move(table);
  if (sorted_by_ >= static_cast<int>(table_->width()) + 1) sorted_by_ = total_column;
  arrange();
  endResetModel();
  Q_EMIT computed();
}

/// By the column that was clicked last; rows of equal value keep their order.
void PivotModel::arrange() {
  if (!table_) return;
  order_.resize(table_->rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const bool ascending = direction_ == Qt::AscendingOrder;
  std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
    if (!ascending) std::swap(a, b);
    if (sorted_by_ != key_column) return number_of(cell_of(a, sorted_by_)) < number_of(cell_of(b, sorted_by_));
    const PivotKey& left = table_->rows[a];
    const PivotKey& right = table_->rows[b];
    return left.number != right.number ? left.number < right.number : comes_before(left.text, right.text);
  });
}

void PivotModel::sort(int column, Qt::SortOrder direction) {
  if (column < 0) return;
  beginResetModel();
  sorted_by_ = column;
  direction_ = direction;
  if (table_ && sorted_by_ >= static_cast<int>(table_->width()) + 1) sorted_by_ = total_column;
  arrange();
  endResetModel();
}

QString PivotModel::summary() const {
  if (session_.run() == nullptr) return tr("Open a recording to count its events.");
  if (!table_) return tr("Computing...");
  std::int64_t count = 0;
  for (std::size_t row = 0; row < table_->rows.size(); ++row) count += cell_of(row, total_column).count;
  const QString where = table_->question.time ? tr("in a range of %1").arg(time_text(table_->question.time->length()))
                                              : tr("in the whole run");
  if (count == 0) return tr("No event %1 matches.").arg(where);
  const QString events =
      count == 1 ? tr("1 event") : tr("%1 events").arg(QLocale{QLocale::English}.toString(qlonglong{count}));
  return tr("%1 %2, %3 in total").arg(events, where, time_text(nanoseconds{table_->all_ns}));
}

const PivotCell& PivotModel::cell_of(std::size_t row, int column) const {
  const std::size_t total = table_->columns.size();
  return table_->cell(row, column <= total_column ? total : static_cast<std::size_t>(column - total_column - 1));
}

double PivotModel::number_of(const PivotCell& cell) const {
  switch (value_) {
    case PivotValue::sum:
      return static_cast<double>(cell.sum_ns);
    case PivotValue::count:
      return static_cast<double>(cell.count);
    case PivotValue::median:
      return static_cast<double>(cell.median_ns);
    case PivotValue::longest:
      return static_cast<double>(cell.longest_ns);
    case PivotValue::share:
      return table_->all_ns == 0 ? 0 : static_cast<double>(cell.sum_ns) / static_cast<double>(table_->all_ns);
  }
  return 0;
}

QString PivotModel::text_of(const PivotCell& cell) const {
  if (cell.count == 0) return {};
  switch (value_) {
    case PivotValue::sum:
      return time_text(nanoseconds{cell.sum_ns});
    case PivotValue::count:
      return QLocale{QLocale::English}.toString(qlonglong{cell.count});
    case PivotValue::median:
      return time_text(nanoseconds{cell.median_ns});
    case PivotValue::longest:
      return time_text(nanoseconds{cell.longest_ns});
    case PivotValue::share:
      return percent_text(number_of(cell));
  }
  return {};
}

int PivotModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !table_ ? 0 : static_cast<int>(order_.size());
}

int PivotModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || !table_ ? 0 : static_cast<int>(table_->width()) + 1;
}

QVariant PivotModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const std::size_t row = order_[static_cast<std::size_t>(index.row())];
  if (index.column() == key_column) {
    const bool speaks = role == Qt::DisplayRole || role == Qt::ToolTipRole || role == Qt::AccessibleTextRole;
    return speaks ? QVariant{qt_text(table_->rows[row].text)} : QVariant{};
  }
  const PivotCell& cell = cell_of(row, index.column());
  if (role == Qt::TextAlignmentRole) return QVariant::fromValue(Qt::Alignment{Qt::AlignRight | Qt::AlignVCenter});
  if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return text_of(cell);
  if (role != Qt::ToolTipRole || cell.count == 0) return {};
  return tr("%1, %2 in total, median %3, longest %4")
      .arg(qt_text(counted(cell.count, "event")), time_text(nanoseconds{cell.sum_ns}),
           time_text(nanoseconds{cell.median_ns}), time_text(nanoseconds{cell.longest_ns}));
}

QVariant PivotModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || !table_ || section < 0 || section >= columnCount()) return {};
  if (role == Qt::InitialSortOrderRole && section != key_column) return QVariant{Qt::DescendingOrder};
  if (role != Qt::DisplayRole) return {};
  if (section == key_column) return words_of(table_->question.rows);
  if (section == total_column) return table_->columns.empty() ? tr("Value") : tr("Total");
  return qt_text(table_->columns[static_cast<std::size_t>(section - total_column - 1)].text);
}

void PivotModel::go_to(const QModelIndex& index) {
  if (!index.isValid()) return;
  const SpanId span = cell_of(order_[static_cast<std::size_t>(index.row())], index.column()).longest;
  if (span.is_set()) session_.go_to(span);
}

QString PivotModel::csv() const {
  QStringList head;
  for (int column = 0; column < columnCount(); ++column)
    head.push_back(csv_field(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()));
  QString text = head.join(QLatin1Char{','}) + QLatin1Char{'\n'};
  for (int row = 0; row < rowCount(); ++row) {
    const std::size_t place = order_[static_cast<std::size_t>(row)];
    QStringList fields{csv_field(qt_text(table_->rows[place].text))};
    for (int column = total_column; column < columnCount(); ++column) {
      const double number = number_of(cell_of(place, column));
      fields.push_back(value_ == PivotValue::share ? QString::number(number, 'g', 6) : QString::number(number, 'f', 0));
    }
    text += fields.join(QLatin1Char{','}) + QLatin1Char{'\n'};
  }
  return text;
}

}  // namespace rankscope::gui
