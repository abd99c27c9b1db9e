#include "rankscope/gui/models/query/query_model.h"

#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

/// Of an area, events that start in it. There may be millions.
std::vector<SpanId> selected_events(const Run& run, const std::optional<Area>& area, std::optional<SpanId> selection) {
  std::vector<SpanId> events;
  if (!area) {
    if (selection) events.push_back(*selection);
    return events;
  }
  const auto begin_of = [](const Span& span) { return span.time.begin; };
  for (const LaneId lane : area->lanes) {
    const auto spans = run.spans_of(run.lane(lane));
    for (auto at = std::ranges::lower_bound(spans, area->time.begin, {}, begin_of);
         at != spans.end() && at->time.begin < area->time.end; ++at)
      events.push_back(run.id_of(*at));
  }
  return events;
}

}  // namespace

QueryModel::QueryModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {
  connect(&session, &Session::runOpened, this, &QueryModel::forget);
}

void QueryModel::forget() {
  job_.cancel();
  busy_ = false;
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

void QueryModel::ask(const QString& sql) {
  const auto& run = session_.run();
  if (run == nullptr) return say(tr("Open a recording to query its tables."), true);
  const bool known = tables_ != nullptr && tables_->run == run;
  if (!known) tables_ = std::make_shared<Tables>(Tables{run, nullptr});
  busy_ = true;
  say(known ? tr("Running...") : tr("Creating the tables..."), false);
  job_.start([this, tables = tables_, text = sql.toStdString(), area = session_.area(),
              selection = session_.selection()](const std::stop_token& stop) -> LatestJob::Delivery {
    if (tables->database == nullptr) {
      auto made = analyzer::QueryDatabase::of(*tables->run, [&stop](double) { return !stop.stop_requested(); });
      if (!made) return [this, error = made.error()] { take(tl::unexpected{error}); };
      tables->database = *std::move(made);
    }
    auto answer = tables->database->ask(text, selected_events(*tables->run, area, selection), most_rows, stop);
    return [this, answer = std::move(answer)] { take(answer); };
  });
}

void QueryModel::stop() {
  if (!std::exchange(busy_, false)) return;
  job_.cancel();
  say(tr("The query was stopped."), false);
}

void QueryModel::take(const Result<analyzer::QueryAnswer>& answer) {
  busy_ = false;
  beginResetModel();
  answer_ = answer ? *answer : analyzer::QueryAnswer{};
  endResetModel();
  if (!answer) return say(qt_text(answer.error().message), true);
  const QString count = qt_text(counted(answer_.rows.size(), "row"));
  say(answer_.cut ? tr("Only the first %1 are shown.").arg(count) : count, false);
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
