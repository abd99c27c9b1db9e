#include "rankscope/gui/models/search/search.h"

#include <QRegularExpression>
#include <algorithm>
#include <bit>

#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
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

}  // namespace rankscope::gui
