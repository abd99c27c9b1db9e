#include "rankscope/gui/models/search/search_model.h"

#include <QLocale>
#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

QString first_words(SearchOrder order) {
  switch (order) {
    case SearchOrder::earliest:
      return SearchModel::tr("; the earliest %1 are listed");
    case SearchOrder::latest:
      return SearchModel::tr("; the latest %1 are listed");
    case SearchOrder::longest:
      return SearchModel::tr("; the longest %1 are listed");
    case SearchOrder::shortest:
      return SearchModel::tr("; the shortest %1 are listed");
  }
  return {};
}

std::vector<TableColumn> search_columns() {
  std::vector<TableColumn> all = span_columns({{SearchModel::tr("Where")}});
  all[SearchModel::length].first_order = Qt::DescendingOrder;  // the longest are looked for
  return all;
}

}  // namespace

SearchModel::SearchModel(Session& session, QObject* parent, Text text)
    : TableModel(search_columns(), parent), session_(session) {
  connect(&session, &Session::runOpened, this, &SearchModel::forget);
  connect(&session, &Session::runChanged, this, &SearchModel::ask);
  connect(&session, &Session::filterChanged, this, [this, text] {
    if (text == Text::filter) query_.text = QString::fromStdString(session_.filter().text);
    ask();
  });
  connect(&session, &Session::visibleRangeChanged, this, [this] {
    if (in_sight_) ask();
  });
  connect(&session, &Session::selectionChanged, this, &SearchModel::follow_selection);
}

void SearchModel::forget() {
  job_.cancel();
  names_.reset();
  names_of_.reset();
  take(std::optional{SearchResult{}});
}

void SearchModel::look_for(const QString& text, SearchSyntax syntax) {
  query_.text = text;
  query_.syntax = syntax;
  ask();
}

void SearchModel::set_in_sight(bool in_sight) {
  if (std::exchange(in_sight_, in_sight) != in_sight) ask();
}

void SearchModel::sort(int column, Qt::SortOrder direction) {
  if (!can_sort(column)) return;
  const bool ascending = direction == Qt::AscendingOrder;
  const SearchOrder order = column == start ? (ascending ? SearchOrder::earliest : SearchOrder::latest)
                                            : (ascending ? SearchOrder::shortest : SearchOrder::longest);
  if (std::exchange(query_.order, order) != order) ask();
}

void SearchModel::ask() {
  if (session_.run() == nullptr || query_.text.isEmpty()) {
    job_.cancel();
    return take(std::optional{SearchResult{}});
  }
  query_.ranks = session_.filter().ranks;
  std::ranges::sort(query_.ranks);
  query_.time = in_sight_ ? std::optional{session_.visible()} : std::nullopt;
  auto names = names_of_ == session_.run() ? names_ : nullptr;
  job_.start(
      [this, run = session_.run(), names, query = query_](const std::stop_token& stop) mutable -> LatestJob::Delivery {
        if (names == nullptr) names = std::make_shared<const SpanNames>(*run);
        auto found = search(*run, *names, query, stop);
        if (found && !*found) return {};
        return [this, run, names, found = std::move(found)] {
          names_ = names;
          names_of_ = run;
          take(found);
        };
      });
}

void SearchModel::take(const Result<std::optional<SearchResult>>& found) {
  beginResetModel();
  result_ = found ? **found : SearchResult{};
  is_wrong_ = !found;
  summary_ = !found ? qt_text(found.error().message)
                    : (query_.text.isEmpty() || session_.run() == nullptr ? QString{} : summary_of(result_));
  current_ = row_of_selection();
  endResetModel();
  Q_EMIT this->found();
  Q_EMIT currentChanged(current_);
}

int SearchModel::row_of_selection() const {
  if (!session_.selection()) return -1;
  const auto found_at = std::ranges::find(result_.listed, *session_.selection());
  return found_at == result_.listed.end() ? -1 : static_cast<int>(found_at - result_.listed.begin());
}

void SearchModel::follow_selection() {
  const int row = row_of_selection();
  if (row >= 0 && std::exchange(current_, row) != row) Q_EMIT currentChanged(row);
}

QString SearchModel::summary_of(const SearchResult& result) const {
  if (result.hits == 0) return tr("No match: no event %1 has this in its name.").arg(place_of_search());
  const QLocale english{QLocale::English};
  QString text = result.hits == 1 ? tr("1 hit") : tr("%1 hits").arg(english.toString(qulonglong{result.hits}));
  if (query_.ranks.empty() && !query_.time) text += tr(" of %1").arg(qt_text(counted(result.names, "name")));
  text += tr(" %1, %2 in total").arg(place_of_search(), time_text(nanoseconds{result.total_ns}));
  if (result.hits <= result.listed.size()) return text;
  return text + first_words(query_.order).arg(english.toString(qulonglong{result.listed.size()}));
}

QString SearchModel::place_of_search() const {
  QString when =
      query_.time ? tr("in the visible range (%1)").arg(time_text(query_.time->length())) : tr("in the whole run");
  if (query_.ranks.empty()) return when;
  const QString ranks = query_.ranks.size() == 1 ? tr("rank %1").arg(query_.ranks.front().value)
                                                 : qt_text(counted(query_.ranks.size(), "rank"));
  return tr("on %1 %2").arg(ranks, when);
}

QVariant SearchModel::cell(std::size_t row, int column, int role) const {
  const Run& run = *session_.run();
  const Span& span = run.span(result_.listed[row]);
  if (role == Qt::DisplayRole && column == place) return path_of(run, run.lane(span.lane));
  return span_cell(run, span, column, role);
}

void SearchModel::go_to(int row) {
  if (row < 0 || row >= rowCount()) return;
  current_ = row;
  session_.go_to(result_.listed[static_cast<std::size_t>(row)]);
  Q_EMIT currentChanged(current_);
}

void SearchModel::next() {
  if (rowCount() > 0) go_to((current_ + 1) % rowCount());
}

void SearchModel::previous() {
  if (rowCount() > 0) go_to((current_ <= 0 ? rowCount() : current_) - 1);
}

}  // namespace rankscope::gui
