#include "rankscope/gui/models/details/details_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/median.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/session/moments.h"
#include "rankscope/gui/models/timeline/neighbours.h"
#include "statistics/nesting.h"

namespace rankscope::gui {
namespace {

/// Without what is nested in it on its lane.
nanoseconds self_time(const Run& run, SpanId id) {
  const Span& span = run.span(id);
  const auto lane = run.spans_of(run.lane(span.lane));
  nanoseconds own = span.time.length();
  constexpr std::uint32_t itself = 0;
  constexpr std::uint32_t other = 1;
  Nesting nesting{span.time};
  nesting.open(span.time, itself);
  for (std::size_t i = static_cast<std::size_t>(&span - lane.data()) + 1; i < lane.size(); ++i) {
    if (lane[i].time.begin >= span.time.end) break;
    if (const auto around = nesting.meet(lane[i].time); around && around->owner == itself)
      own -= nanoseconds{around->taken_ns};
    nesting.open(lane[i].time, other);
  }
  return own;
}

QString cut_text(std::uint8_t flags) {
  const bool begin = (flags & span_flag::cut_begin) != 0;
  const bool end = (flags & span_flag::cut_end) != 0;
  if (begin && end)
    return DetailsModel::tr("began before the recording and was still running when the recording ended");
  if (begin) return DetailsModel::tr("began before the recording, or the beginning of the event was lost");
  return end ? DetailsModel::tr("still running when the recording ended, or its end was lost") : QString{};
}

/// Two digits after the point would be 0.00 for an event that is far shorter.
QString times_text(double ratio) {
  constexpr double least = 0.01;
  return ratio < least ? DetailsModel::tr("; this event takes less than 0.01× as long")
                       : DetailsModel::tr("; this event takes %1× as long").arg(ratio, 0, 'f', 2);
}

}  // namespace

DetailsModel::DetailsModel(Session& session, QObject* parent)
    : TableModel({{tr("Property")}, {tr("Value")}}, parent),
      session_(session),
      sums_(session),
      stretch_is_latest_(!session.selection()) {
  sums_.set_active(shows_stretch());
  connect(&session, &Session::selectionChanged, this, [this] {
    if (session_.selection()) stretch_is_latest_ = false;
    sums_.set_active(shows_stretch());
    reload();
  });
  connect(&session, &Session::areaChanged, this, [this] {
    stretch_is_latest_ = session_.area().has_value();
    sums_.set_active(shows_stretch());
    reload();
  });
  connect(&sums_, &Statistics::changed, this, [this] {
    if (shows_stretch()) reload();
  });
  connect(&session, &Session::findingChanged, this, &DetailsModel::reload);
  connect(&session, &Session::runChanged, this, &DetailsModel::reload);
  connect(&session, &Session::reportChanged, this, &DetailsModel::reload);
  reload();
}

void DetailsModel::reload() {
  beginResetModel();
  rows_.clear();
  if (shows_stretch()) {
    add_stretch(*session_.run(), *session_.area());
  } else if (session_.selection()) {
    const Run& run = *session_.run();
    const SpanId id = *session_.selection();
    add_place(run, id);
    add_times(run, id);
    add_operation(run, run.span(id));
    add_links(run, id);
    for (const Attribute& attribute : run.attributes_of(id))
      add(qt_text(run.text(attribute.key)), attribute_text(run, attribute));
  } else if (const auto* const finding = shown_finding()) {
    add_finding(*finding);
  }
  endResetModel();
}

const analyzer::Finding* DetailsModel::shown_finding() const {
  const auto& report = session_.report();
  if (shows_stretch() || session_.selection()) return nullptr;
  if (!session_.finding() || report == nullptr || !report->findings) return nullptr;
  return *session_.finding() < report->findings->size() ? &(*report->findings)[*session_.finding()] : nullptr;
}

void DetailsModel::add_finding(const analyzer::Finding& finding) {
  add(tr("Severity"), qt_text(name_of(finding.severity)));
  add(tr("Evidence"), qt_text(finding.evidence));
  add(tr("What to do"), qt_text(finding.advice));
  if (finding.gain_ns_per_step > 0)
    add(tr("Saves per step"), time_text(nanoseconds{finding.gain_ns_per_step}));
  else if (!finding.why_no_gain.empty())
    add(tr("Saves per step"), qt_text(finding.why_no_gain));
}

void DetailsModel::add(QString name, QString text, std::optional<SpanId> target) {
  rows_.push_back({std::move(name), std::move(text), target});
}

void DetailsModel::add_place(const Run& run, SpanId id) {
  const Span& span = run.span(id);
  const Lane& lane = run.lane(span.lane);
  const std::string_view name = run.text(span.name);
  const std::string short_name = short_name_of(run, span);
  add(tr("Name"), qt_text(name));
  if (short_name != name) add(tr("Short name"), qt_text(short_name));
  add(tr("Kind"), qt_text(name_of(span.kind)));
  add(tr("Rank"), rank_text(run, lane));
  if (const std::string_view host = run.text(run.processes()[lane.process].host); !host.empty())
    add(tr("Host"), qt_text(host));
  add(tr("Lane"), qt_text(run.text(lane.name)));
}

void DetailsModel::add_times(const Run& run, SpanId id) {
  const Span& span = run.span(id);
  const Lane& lane = run.lane(span.lane);
  if (const auto* const step = step_at(session_.report().get(), lane.rank, span.time.begin))
    add(tr("Step"), QString::number(step->index));
  add(tr("Start"), tr("%1 after the start of the run").arg(moment_text(run, span.time.begin)));
  add(tr("Duration"), time_text(span.time.length()));
  add_copy_speed(run, id);
  add_other_ranks(run, id);
  if (const nanoseconds own = self_time(run, id); own != span.time.length())
    add(tr("Self time"), tr("%1; the rest is in nested events").arg(time_text(own)));
  if (span.flags != 0) add(tr("Cut"), cut_text(span.flags));
}

void DetailsModel::add_copy_speed(const Run& run, SpanId id) {
  const Span& span = run.span(id);
  const std::int64_t ns = span.time.length().count();
  if (span.kind != SpanKind::memory || ns <= 0) return;
  for (const Attribute& attribute : run.attributes_of(id)) {
    const bool is_size = run.text(attribute.key) == "bytes" && attribute.value.kind == AttributeKind::number;
    if (!is_size || attribute.value.number < 0) continue;
    const double per_second = 1e9 * static_cast<double>(attribute.value.number) / static_cast<double>(ns);
    return add(tr("Speed"), counter_text("copied_bytes_per_second", per_second));
  }
}

void DetailsModel::add_bus_bandwidth(const Run& run, const Collective& part) {
  const auto& report = session_.report();
  if (report == nullptr || !report->collectives || !part.group.is_set()) return;
  const std::string_view group = run.text(run.groups()[part.group.index()].name);
  for (const analyzer::GroupRow& row : report->collectives->groups) {
    if (row.group != group || row.op != run.text(part.op) || !row.busbw_gbps) continue;
    return add(tr("Bus bandwidth"),
               tr("%1 GB/s, mean of all %2 calls in this group").arg(*row.busbw_gbps, 0, 'f', 2).arg(qt_text(row.op)));
  }
}

/// How long the same took elsewhere in the step.
void DetailsModel::add_other_ranks(const Run& run, SpanId id) {
  if (session_.report() == nullptr) return;
  std::vector<std::int64_t> others;
  for (const SpanId other : same_on_other_ranks(run, *session_.report(), id))
    others.push_back(run.span(other).time.length().count());
  if (others.empty()) return;
  const nanoseconds median{rankscope::median(others)};
  QString text = tr("median %1 (%2)").arg(time_text(median), qt_text(counted(others.size(), "rank")));
  if (median > nanoseconds{0})
    text += times_text(static_cast<double>(run.span(id).time.length().count()) / static_cast<double>(median.count()));
  add(tr("On other ranks"), text);
}

void DetailsModel::add_operation(const Run& run, const Span& span) {
  if (span.collective == Span::no_collective) return;
  const Collective& part = run.collectives()[span.collective];
  add(tr("Operation"), qt_text(run.text(part.op)));
  if (part.group.is_set()) {
    const Group& group = run.groups()[part.group.index()];
    const std::string members = counted(group.members.size(), "rank");
    add(tr("Group"), qt_text(format("{} ({})", run.text(group.name), members)));
  }
  if (part.sequence >= 0) add(tr("Sequence"), QString::number(part.sequence));
  if (part.bytes >= 0) add(tr("Bytes"), qt_text(format("{} ({})", part.bytes, analyzer::bytes_text(part.bytes))));
  add_bus_bandwidth(run, part);
  if (part.dtype.is_set() && !run.text(part.dtype).empty()) add(tr("Element type"), qt_text(run.text(part.dtype)));
  if (part.peer >= 0) add(tr("Root or peer"), qt_text(format("rank {}", part.peer)));
  if (part.enqueued != RunTime{} && part.enqueued < span.time.begin)
    add(tr("Enqueued"), tr("%1 before it started").arg(time_text(span.time.begin - part.enqueued)));
}

void DetailsModel::add_links(const Run& run, SpanId id) {
  const auto named = [&](SpanId other, QString name, const QString& when) {
    const Span& span = run.span(other);
    add(std::move(name), qt_text(short_name_of(run, span)) + when, other);
  };
  for (const Link& link : run.links()) {
    if (link.from != id && link.to != id) continue;
    const bool incoming = link.to == id;
    const nanoseconds delay = run.span(link.to).time.begin - run.span(link.from).time.begin;
    switch (link.kind) {
      case LinkKind::launch:
        named(incoming ? link.from : link.to, incoming ? tr("Launched by") : tr("Launches"),
              tr(", %1 %2").arg(time_text(delay), incoming ? tr("earlier") : tr("later")));
        break;
      case LinkKind::forward_backward:
        named(incoming ? link.from : link.to, incoming ? tr("Forward") : tr("Backward"), {});
        break;
    }
  }
}

QVariant DetailsModel::cell(std::size_t row, int column, int role) const {
  const Row& one = rows_[row];
  if (role == Qt::ToolTipRole) return one.target ? tr("%1\nClick to go there.").arg(one.text) : one.text;
  if (role != Qt::DisplayRole) return {};
  return column == property ? one.name : one.text;
}

QString DetailsModel::title() const {
  if (const auto* const finding = shown_finding()) return qt_text(finding->title);
  if (shows_stretch()) return tr("Selected range of %1").arg(time_text(session_.area()->time.length()));
  if (!session_.selection()) return {};
  const Run& run = *session_.run();
  const Span& span = run.span(*session_.selection());
  return tr("%1 on %2").arg(qt_text(short_name_of(run, span)), path_of(run, run.lane(span.lane)));
}

bool DetailsModel::is_out_of_sight() const {
  if (shows_stretch() || !session_.selection()) return false;
  const TimeRange time = session_.run()->span(*session_.selection()).time;
  return intersect(time, session_.visible()).empty() && !session_.visible().contains(time.begin);
}

void DetailsModel::go_to(int row) {
  if (row < 0 || row >= rowCount()) return;
  if (const auto target = rows_[static_cast<std::size_t>(row)].target) session_.go_to(*target);
}

QString DetailsModel::value_of(const QString& name) const {
  const auto found = std::ranges::find(rows_, name, &Row::name);
  return found == rows_.end() ? QString{} : found->text;
}

QString DetailsModel::as_text() const {
  QString text = shown_finding() != nullptr || shows_stretch() ? title() + QLatin1Char{'\n'} : QString{};
  for (const Row& row : rows_) text += row.name + QStringLiteral(": ") + row.text + QLatin1Char{'\n'};
  return text;
}

void DetailsModel::add_stretch(const Run& run, const Area& area) {
  add(tr("Start"), moment_text(run, area.time.begin));
  add(tr("End"), moment_text(run, area.time.end));
  add(tr("Duration"), time_text(area.time.length()));
  add(tr("Lanes"), QString::number(area.lanes.size()));
  const auto& sums = sums_.answer();
  if (sums && sums->question.range == area.time && sums->question.lanes == area.lanes)
    add_sums(*sums);
  else
    add(tr("Sums"), tr("computing..."));
}

/// Parts of the time of all its ranks, which add up; then its events.
void DetailsModel::add_sums(const RangeAnswer& sums) {
  analyzer::TimeSplit all{};
  for (const RankTimes& one : sums.ranks) all += one.split;
  const std::array parts{std::pair{tr("Compute"), all.compute_ns},
                         std::pair{tr("Communication (transfer)"), all.exposed_transfer_ns},
                         std::pair{tr("Communication (wait)"), all.exposed_wait_ns},
                         std::pair{tr("Communication (not split)"),  // as the columns of the statistics
                                   all.exposed_comm_ns - all.exposed_wait_ns - all.exposed_transfer_ns},
                         std::pair{tr("Copies"), all.memory_ns},
                         std::pair{tr("Idle"), all.idle_ns}};
  if (all.window_ns > 0)
    add(tr("Ranks"),
        tr("%1, whose times add up to %2").arg(sums.ranks.size()).arg(time_text(nanoseconds{all.window_ns})));
  for (const auto& [name, ns] : parts)
    if (ns > 0)
      add(name, tr("%1 (%2)").arg(time_text(nanoseconds{ns}),
                                  percent_text(static_cast<double>(ns) / static_cast<double>(all.window_ns))));
  std::int64_t calls = 0;
  for (const NameTimes& one : sums.names) calls += one.count;
  add(tr("Events"), tr("%1 (%2)").arg(calls).arg(qt_text(counted(sums.names.size(), "name"))));
  if (sums.names.empty()) return;
  Span longest;
  longest.name = sums.names.front().name;
  longest.kind = sums.names.front().kind;
  add(tr("Most self time"), tr("%1: %2").arg(qt_text(short_name_of(*session_.run(), longest)),
                                             time_text(nanoseconds{sums.names.front().self_ns})));
}

}  // namespace rankscope::gui
