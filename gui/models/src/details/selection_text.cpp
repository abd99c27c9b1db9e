#include "rankscope/gui/models/details/selection_text.h"

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

/// Its name at the left, as "rank 2" of the map of ranks and steps; a mere number is none.
QString name_of_row(const QAbstractItemModel& model, int row) {
  const QVariant name = model.headerData(row, Qt::Vertical, Qt::DisplayRole);
  return name.typeId() == QMetaType::QString ? name.toString() : QString{};
}

QString row_text(const QAbstractItemModel& model, int row) {
  QStringList cells;
  if (const QString name = name_of_row(model, row); !name.isEmpty()) cells.push_back(name);
  for (int column = 0; column < model.columnCount(); ++column)
    cells.push_back(model.index(row, column).data(Qt::DisplayRole).toString().simplified());
  return cells.join(QLatin1Char{'\t'}) + QLatin1Char{'\n'};
}

}  // namespace

QString table_text(const QAbstractItemModel& model, const QModelIndexList& rows) {
  QStringList names;
  if (!name_of_row(model, 0).isEmpty()) names.push_back(QString{});
  for (int column = 0; column < model.columnCount(); ++column)
    names.push_back(model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
  QString text = names.join(QLatin1Char{'\t'}) + QLatin1Char{'\n'};
  if (rows.isEmpty())
    for (int row = 0; row < model.rowCount(); ++row) text += row_text(model, row);
  for (const QModelIndex& index : rows) text += row_text(model, index.row());
  return text;
}

SelectionText::SelectionText(Session& session, QObject* parent)
    : QObject(parent), session_(session), statistics_(session), ranks_(statistics_), names_(statistics_) {
  connect(&statistics_, &Statistics::changed, this, &SelectionText::deliver);
  connect(&session, &Session::runOpened, this, [this] {
    asked_ = false;
    statistics_.set_active(false);
  });
}

void SelectionText::ask() {
  asked_ = false;
  if (session_.area()) {
    asked_ = true;
    statistics_.set_active(true);
    return deliver();
  }
  if (session_.selection()) Q_EMIT made(event_text());
}

/// One line for tables, then all of it in words.
QString SelectionText::event_text() const {
  const Run& run = *session_.run();
  const Span& span = run.span(*session_.selection());
  const Lane& lane = run.lane(span.lane);
  return qt_text(format("{}\t{}\t{}\t{} ns\t{} ns\n\n", run.text(span.name), rank_text(run, lane).toStdString(),
                        run.text(lane.name), ns_of(span.time.begin), span.time.length().count())) +
         DetailsModel{session_}.as_text() + MembersModel{session_}.as_text();
}

void SelectionText::deliver() {
  if (!asked_ || statistics_.busy() || !statistics_.answer()) return;
  asked_ = false;
  statistics_.set_active(false);
  QString text = statistics_.caption() + QStringLiteral("\n\n");
  if (ranks_.rowCount() > 0) text += table_text(ranks_) + QLatin1Char{'\n'};
  Q_EMIT made(text + table_text(names_));
}

}  // namespace rankscope::gui
