#include "rankscope/gui/models/compare/comparison_model.h"

#include <algorithm>

#include "rankscope/analyzer/compare/render_comparison.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

using analyzer::CompareKey;
using analyzer::KeyKind;

/// Of a span of this kind on such a lane a key of that kind may tell.
bool is_of(KeyKind key, const Span& span, const Lane& lane) {
  switch (key) {
    case KeyKind::kernel:
      return span.kind == SpanKind::compute && lane.kind == LaneKind::stream;
    case KeyKind::comm_kernel:
      return span.kind == SpanKind::comm && lane.kind == LaneKind::stream;
    case KeyKind::copy:
      return span.kind == SpanKind::memory && lane.kind == LaneKind::stream;
    case KeyKind::op:
      return span.kind == SpanKind::op && lane.kind == LaneKind::thread;
    case KeyKind::annotation:
      return span.kind != SpanKind::op && lane.kind == LaneKind::thread;
    case KeyKind::wait:
    case KeyKind::transfer:
      return span.collective != Span::no_collective;
  }
  return false;
}

/// The name of a key as spans have it.
class KeyName {
 public:
  KeyName(const Run& run, const CompareKey& key)
      : run_(run),
        of_part_(key.kind == KeyKind::wait || key.kind == KeyKind::transfer),
        name_(run.strings().find(key.name)),
        op_(run.strings().find(key.detail)) {}

  [[nodiscard]] bool is_known() const { return name_.is_set(); }
  [[nodiscard]] bool is_of(const Span& span) const {
    if (!of_part_) return span.name == name_;
    const Collective& part = run_.collectives()[span.collective];
    return part.group.is_set() && run_.groups()[part.group.index()].name == name_ && part.op == op_;
  }

 private:
  const Run& run_;
  bool of_part_;
  StringId name_;  // of spans, else of the group
  StringId op_;
};

std::string file_of(const Session& session, const char* label) {
  return session.source().paths.empty() ? label : session.source().paths.front().filename().string();
}

std::optional<RankId> first_of(const std::vector<RankId>& ranks) {
  return ranks.empty() ? std::nullopt : std::optional{ranks.front()};
}

std::vector<TableColumn> comparison_columns() {
  const auto number = [](const QString& title, const QString& meaning) {
    return TableColumn{title, meaning, Align::right};
  };
  const QString mean = ComparisonModel::tr("Mean per step and rank");
  return {{ComparisonModel::tr("What")},
          {ComparisonModel::tr("Kind")},
          number(ComparisonModel::tr("In A"), mean),
          number(ComparisonModel::tr("In B"), mean),
          number(ComparisonModel::tr("Change"), ComparisonModel::tr("Value in B minus value in A")),
          number(ComparisonModel::tr("Change in %"), ComparisonModel::tr("Change in percent of the value in A")),
          number(ComparisonModel::tr("In % of the step"),
                 ComparisonModel::tr("Change in percent of the mean step time in A"))};
}

}  // namespace

std::optional<SpanId> longest_span_of(const Run& run, const CompareKey& key, TimeRange time) {
  const KeyName name{run, key};
  if (!name.is_known()) return std::nullopt;
  const Span* longest = nullptr;
  for (const Lane& lane : run.lanes()) {
    const auto spans = run.spans_of(lane);
    const auto begin_of = [](const Span& span) { return span.time.begin; };
    for (auto at = time.empty() ? spans.begin() : std::ranges::lower_bound(spans, time.begin, {}, begin_of);
         at != spans.end() && (time.empty() || at->time.begin < time.end); ++at) {
      if (!is_of(key.kind, *at, lane) || !name.is_of(*at)) continue;
      if (longest == nullptr || at->time.length() > longest->time.length()) longest = &*at;
    }
  }
  return longest == nullptr ? std::nullopt : std::optional{run.id_of(*longest)};
}

ComparisonModel::ComparisonModel(Session& a, Session& b, StepLink& link, QObject* parent)
    : TableModel(comparison_columns(), parent), a_(a), b_(b), link_(link) {
  connect(&a, &Session::reportChanged, this, &ComparisonModel::ask);
  connect(&b, &Session::reportChanged, this, &ComparisonModel::ask);
  ask();
}

void ComparisonModel::say(const QString& verdict, const QString& doubts) {
  verdict_ = verdict;
  doubts_ = doubts;
  Q_EMIT compared();
}

void ComparisonModel::ask() {
  job_.cancel();
  going_.cancel();
  beginResetModel();
  rows_.clear();
  endResetModel();
  if (a_.report() == nullptr || b_.report() == nullptr)
    return say(tr("The comparison appears once both runs have been analyzed."));
  say(tr("Comparing..."));
  job_.start([this, run_a = a_.recorded(), run_b = b_.recorded(), name_a = file_of(a_, "A"),
              name_b = file_of(b_, "B")](const std::stop_token& stop) -> LatestJob::Delivery {
    const analyzer::RunDigest a = analyzer::digest(*run_a, {}, {"A", name_a});
    if (stop.stop_requested()) return {};
    const analyzer::RunDigest b = analyzer::digest(*run_b, {}, {"B", name_b});
    return [this, comparison = std::make_shared<const analyzer::Comparison>(analyzer::compare(a, b))] {
      take(*comparison);
    };
  });
}

void ComparisonModel::take(const analyzer::Comparison& comparison) {
  beginResetModel();
  rows_.clear();
  step_ns_ = comparison.split ? comparison.split->all.a.window_ns : 0;
  add_findings(comparison.findings);
  if (comparison.split) add_split(*comparison.split);
  add_keys(comparison.keys.changed, tr("changed"));
  add_keys(comparison.keys.appeared, tr("only in B"));
  add_keys(comparison.keys.gone, tr("only in A"));
  if (comparison.split) add_ranks(*comparison.split);
  endResetModel();
  QStringList doubts;
  for (const std::string& doubt : analyzer::doubts_about(comparison)) doubts.push_back(QString::fromStdString(doubt));
  say(QString::fromStdString(analyzer::verdict_line({comparison, std::nullopt})), doubts.join(QLatin1Char{' '}));
}

void ComparisonModel::add_findings(const analyzer::ComparedFindings& findings) {
  const auto add = [this](const analyzer::Finding& finding, const QString& note) {
    rows_.push_back(
        {qt_text(finding.title), note, std::nullopt, std::nullopt, std::nullopt, finding.rank, finding.rank});
  };
  for (const analyzer::Finding& finding : findings.came) add(finding, tr("finding, only in B"));
  for (const analyzer::RisenFinding& risen : findings.risen) add(risen.now, tr("finding, worse in B"));
  for (const analyzer::Finding& finding : findings.went) add(finding, tr("finding, only in A"));
}

/// A part leads to the rank in which it changed most.
void ComparisonModel::add_split(const analyzer::SplitComparison& split) {
  for (std::size_t i = 0; i < analyzer::split_part_count; ++i) {
    const auto part = static_cast<analyzer::SplitPart>(i);
    if (split.all.a.of(part) == 0 && split.all.b.of(part) == 0) continue;
    const auto most = std::ranges::max_element(
        split.ranks, {}, [part](const analyzer::SplitChange& one) { return std::abs(one.change_ns(part)); });
    const bool known = most != split.ranks.end();
    rows_.push_back({qt_text(analyzer::words_of(part)), tr("part of the step"), split.all.a.of(part),
                     split.all.b.of(part), std::nullopt, known ? first_of(most->ranks_a) : std::nullopt,
                     known ? first_of(most->ranks_b) : std::nullopt});
  }
  rows_.push_back({tr("whole step"), tr("step"), split.all.a.window_ns, split.all.b.window_ns});
}

void ComparisonModel::add_keys(const std::vector<analyzer::KeyChange>& keys, const QString& note) {
  for (const analyzer::KeyChange& one : keys) {
    std::string name = one.key.name;
    if (!one.key.detail.empty()) name += format(" ({})", one.key.detail);
    rows_.push_back({qt_text(name), tr("%1, %2").arg(qt_text(analyzer::words_of(one.key.kind)), note), one.a_ns,
                     one.b_ns, one.key});
  }
}

void ComparisonModel::add_ranks(const analyzer::SplitComparison& split) {
  for (const analyzer::SplitChange& one : split.ranks) {
    const QString mostly = tr("whole step; largest change: %1 ms").arg(qt_text(analyzer::largest_change(one)));
    rows_.push_back({qt_text(one.who), mostly, one.a.window_ns, one.b.window_ns, std::nullopt, first_of(one.ranks_a),
                     first_of(one.ranks_b)});
  }
}

void ComparisonModel::select(Session& session, std::optional<SpanId> span, std::optional<RankId> rank) {
  session.select_area(std::nullopt);
  session.select(span);
  if (span) Q_EMIT session.spanRevealRequested(*span);
  if (rank) Q_EMIT session.revealRequested(*rank);
}

void ComparisonModel::go_to(int row_index) {
  const StepPair* const step = link_.usual_step();
  if (step != nullptr) link_.show(*step);
  const StepPair times = step == nullptr ? StepPair{} : *step;
  going_.start([this, row = rows_[static_cast<std::size_t>(row_index)], times, aligned = step != nullptr,
                run_a = a_.run(), run_b = b_.run()](const std::stop_token&) -> LatestJob::Delivery {
    const auto find = [&row](const Run& run, TimeRange time) {
      return row.key ? longest_span_of(run, *row.key, time) : std::nullopt;
    };
    return [this, row, aligned, run_a, run_b, in_a = find(*run_a, times.a), in_b = find(*run_b, times.b)] {
      if (a_.run() != run_a || b_.run() != run_b) return;
      select(a_, in_a, row.rank_a);
      select(b_, in_b, row.rank_b);
      if (!aligned && in_a) a_.go_to(*in_a);
    };
  });
}

QString ComparisonModel::text_of(const Row& row, Column column) const {
  const auto share_text = [](std::int64_t part, std::int64_t whole) {
    if (whole == 0) return QString{};
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    return (share < 0 ? QString{} : QStringLiteral("+")) + percent_text(share);
  };
  const bool both = row.a_ns && row.b_ns;
  const std::int64_t more = both ? *row.b_ns - *row.a_ns : 0;
  switch (column) {
    case what:
      return row.what;
    case kind:
      return row.kind;
    case in_a:
      return row.a_ns ? time_text(nanoseconds{*row.a_ns}) : QString{};
    case in_b:
      return row.b_ns ? time_text(nanoseconds{*row.b_ns}) : QString{};
    case change:
      return both ? (more < 0 ? QString{} : QStringLiteral("+")) + time_text(nanoseconds{more}) : QString{};
    case percent:
      return both ? share_text(more, *row.a_ns) : QString{};
    case of_step:
      return both ? share_text(more, step_ns_) : QString{};
  }
  return {};
}

QVariant ComparisonModel::cell(std::size_t row, int column, int role) const {
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  return text_of(rows_[row], static_cast<Column>(column));
}

}  // namespace rankscope::gui
