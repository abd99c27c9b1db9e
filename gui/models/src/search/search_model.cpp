#include "rankscope/gui/models/search/search_model.h"

#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <bit>
#include <utility>

#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/side_by_side.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

using NameSet = std::vector<std::uint8_t>;  // by StringId, 1 = wanted; not vector<bool>: it is read for each span

/// Where a span stands in the order asked for.
struct Hit {
  std::int64_t key;
  SpanId span;
  auto operator<=>(const Hit&) const = default;
};

std::int64_t key_of(SearchOrder order, const Span& span) {
  switch (order) {
    case SearchOrder::earliest:
      return ns_of(span.time.begin);
    case SearchOrder::latest:
      return -ns_of(span.time.begin);
    case SearchOrder::longest:
      return -span.time.length().count();
    case SearchOrder::shortest:
      return span.time.length().count();
  }
  return 0;
}

/// Keeps the first hits in order; what is behind them is only counted.
class Collector {
 public:
  explicit Collector(SearchOrder order) : order_(order) {}

  void add(const Run& run, const Span& span) {
    const std::int64_t ns = span.time.length().count();
    ++result_.hits;
    result_.total_ns += ns;
    ++result_.histogram[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(ns)))];
    const Hit hit{key_of(order_, span), run.id_of(span)};
    if (is_full_ && hit > last_) return;
    hits_.push_back(hit);
    if (hits_.size() == 2 * SearchResult::most_listed) cut();
  }

  void add(const Collector& part) {
    result_.hits += part.result_.hits;
    result_.total_ns += part.result_.total_ns;
    for (std::size_t i = 0; i < result_.histogram.size(); ++i) result_.histogram[i] += part.result_.histogram[i];
    hits_.insert(hits_.end(), part.hits_.begin(), part.hits_.end());
  }

  [[nodiscard]] SearchResult result() && {
    if (hits_.size() > SearchResult::most_listed) cut();
    std::ranges::sort(hits_);
    for (const Hit& hit : hits_) result_.listed.push_back(hit.span);
    return std::move(result_);
  }

 private:
  void cut() {
    const auto end = hits_.begin() + static_cast<std::ptrdiff_t>(SearchResult::most_listed);
    std::ranges::nth_element(hits_, end - 1);
    hits_.erase(end, hits_.end());
    last_ = hits_.back();
    is_full_ = true;
  }

  SearchOrder order_;
  SearchResult result_;
  std::vector<Hit> hits_;
  bool is_full_ = false;
  Hit last_{};  // of those kept, when it is full
};

bool touches(const Span& span, TimeRange time) {
  return (span.time.begin < time.end && span.time.end > time.begin) || time.contains(span.time.begin);
}

Result<NameSet> matching_names(const Run& run, const SpanNames& names, const SearchQuery& query, std::size_t& count) {
  const QString pattern = query.syntax == SearchSyntax::regex ? query.text : QRegularExpression::escape(query.text);
  const QRegularExpression expression{pattern, QRegularExpression::CaseInsensitiveOption};
  if (!expression.isValid())
    return fail(ErrorKind::usage, format("invalid regular expression at character {}: {}",
                                         expression.patternErrorOffset() + 1, expression.errorString().toStdString()));
  const auto matches = [&](const QString& text) {
    return query.syntax == SearchSyntax::plain ? text.contains(query.text, Qt::CaseInsensitive)
                                               : expression.match(text).hasMatch();
  };
  NameSet wanted(run.strings().size());
  for (const SpanNames::Name& name : names.names())
    if (matches(name.full) || (!name.short_form.isEmpty() && matches(name.short_form))) {
      wanted[name.id.index()] = 1;
      ++count;
    }
  return wanted;
}

QString first_words(SearchOrder order) {
  switch (order) {
    case SearchOrder::earliest:
      return SearchModel::tr("; only the earliest %1 are listed");
    case SearchOrder::latest:
      return SearchModel::tr("; only the latest %1 are listed");
    case SearchOrder::longest:
      return SearchModel::tr("; only the longest %1 are listed");
    case SearchOrder::shortest:
      return SearchModel::tr("; only the shortest %1 are listed");
  }
  return {};
}

std::vector<TableColumn> search_columns() {
  std::vector<TableColumn> all = span_columns({{SearchModel::tr("Where")}});
  all[SearchModel::length].first_order = Qt::DescendingOrder;  // the longest are looked for
  return all;
}

}  // namespace

SpanNames::SpanNames(const Run& run) {
  enum : std::uint8_t { unseen, seen, seen_as_kernel };
  std::vector<std::uint8_t> uses(run.strings().size(), unseen);
  for (const Span& span : run.spans()) {
    std::uint8_t& use = uses[span.name.index()];
    if (use == seen_as_kernel) continue;
    use = span.kind == SpanKind::compute || span.kind == SpanKind::comm ? seen_as_kernel : seen;
  }
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == unseen) continue;
    const std::string_view full = run.text(StringId{i});
    const std::string kernel = uses[i] == seen_as_kernel ? analyzer::short_kernel_name(full) : std::string{};
    names_.push_back({StringId{i}, qt_text(full), kernel == full ? QString{} : qt_text(kernel)});
  }
}

Result<std::optional<SearchResult>> search(const Run& run, const SpanNames& names, const SearchQuery& query,
                                           const std::stop_token& stop) {
  std::size_t count = 0;
  RS_TRY(const NameSet wanted, matching_names(run, names, query, count));
  constexpr std::size_t piece = 1 << 20;
  const std::span<const Span> spans = run.spans();
  std::vector<Collector> parts((spans.size() + piece - 1) / piece, Collector{query.order});
  side_by_side(count == 0 ? 0 : parts.size(), [&](std::size_t i) {
    if (stop.stop_requested()) return;
    for (const Span& span : spans.subspan(i * piece, std::min(piece, spans.size() - i * piece))) {
      if (wanted[span.name.index()] == 0 || (query.time && !touches(span, *query.time))) continue;
      if (query.ranks.empty() || std::ranges::binary_search(query.ranks, run.lane(span.lane).rank))
        parts[i].add(run, span);
    }
  });
  if (stop.stop_requested()) return std::nullopt;
  Collector all{query.order};
  for (const Collector& part : parts) all.add(part);
  SearchResult result = std::move(all).result();
  result.names = count;
  return result;
}

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
  if (result.hits == 0) return tr("No match: no event %1 has a matching name.").arg(place_of_search());
  const QLocale english{QLocale::English};
  QString text = result.hits == 1 ? tr("1 hit") : tr("%1 hits").arg(english.toString(qulonglong{result.hits}));
  if (query_.ranks.empty() && !query_.time) text += tr(" (%1)").arg(qt_text(counted(result.names, "name")));
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
