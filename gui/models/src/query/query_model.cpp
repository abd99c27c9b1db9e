#include "rankscope/gui/models/query/query_model.h"

#include <QLocale>
#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {

QueryModel::QueryModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {
  connect(&session, &Session::runOpened, this, &QueryModel::forget);
}

void QueryModel::forget() {
  job_.cancel();
  tables_.reset();
  beginResetModel();
  answer_ = {};
  endResetModel();
  say({}, false);
}

void QueryModel::say(const QString& summary, bool is_wrong) {
  summary_ = summary;
  is_wrong_ = is_wrong;
  Q_EMIT answered();
}

/// Of a range, events that start in it.
std::vector<SpanId> QueryModel::selected_events() const {
  const Run& run = *session_.run();
  std::vector<SpanId> events;
  if (!session_.area()) {
    if (session_.selection()) events.push_back(*session_.selection());
    return events;
  }
  const TimeRange time = session_.area()->time;
  const auto begin_of = [](const Span& span) { return span.time.begin; };
  for (const LaneId lane : session_.area()->lanes) {
    const auto spans = run.spans_of(run.lane(lane));
    for (auto at = std::ranges::lower_bound(spans, time.begin, {}, begin_of);
         at != spans.end() && at->time.begin < time.end; ++at)
      events.push_back(run.id_of(*at));
  }
  return events;
}

void QueryModel::ask(const QString& sql) {
  const auto& run = session_.run();
  if (run == nullptr) return say(tr("Open a recording to query its tables."), true);
  const bool known = tables_ != nullptr && tables_->run == run;
  if (!known) tables_ = std::make_shared<Tables>(Tables{run, nullptr});
  say(known ? tr("Running...") : tr("Making the tables..."), false);
  job_.start([this, tables = tables_, text = sql.toStdString(),
              selection = selected_events()](const std::stop_token& stop) -> LatestJob::Delivery {
    if (tables->database == nullptr) {
      auto made = analyzer::QueryDatabase::of(*tables->run, [&stop](double) { return !stop.stop_requested(); });
      if (!made) return [this, error = made.error()] { take(tl::unexpected{error}); };
      tables->database = *std::move(made);
    }
    auto answer = tables->database->ask(text, selection, most_rows, stop);
    return [this, answer = std::move(answer)] { take(answer); };
  });
}

void QueryModel::stop() {
  if (!job_.busy()) return;
  job_.cancel();
  say(tr("The query was stopped."), false);
}

void QueryModel::take(const Result<analyzer::QueryAnswer>& answer) {
  beginResetModel();
  answer_ = answer ? *answer : analyzer::QueryAnswer{};
  endResetModel();
  if (!answer) return say(qt_text(answer.error().message), true);
  const QString count = qt_text(counted(answer_.rows.size(), "row"));
  say(answer_.cut ? tr("The first %1; the query has more.").arg(count) : count, false);
}

int QueryModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(answer_.rows.size());
}

int QueryModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(answer_.columns.size());
}

QVariant QueryModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::AccessibleTextRole) return {};
  const auto& value = answer_.rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
  return value ? QVariant{qt_text(*value)} : QVariant{};
}

QVariant QueryModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= columnCount()) return {};
  return qt_text(answer_.columns[static_cast<std::size_t>(section)]);
}

void QueryModel::go_to(int row) {
  if (row < 0 || row >= rowCount()) return;
  const auto column = std::ranges::find(answer_.columns, "span_id");
  if (column == answer_.columns.end()) return;
  const auto& value =
      answer_.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column - answer_.columns.begin())];
  const auto span = value ? number_from<std::uint32_t>(*value) : std::nullopt;
  if (span && *span < session_.run()->spans().size()) session_.go_to(SpanId{*span});
}

}  // namespace rankscope::gui
