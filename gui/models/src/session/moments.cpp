#include "rankscope/gui/models/session/moments.h"

#include <QObject>
#include <algorithm>

#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

/// Which of the rank's threads was in something, in the narrowest sense.
std::optional<SpanId> open_on_host(const Run& run, RankId rank, RunTime moment, StringId name) {
  std::optional<SpanId> best;
  for (const Lane& lane : run.lanes()) {
    if (lane.rank != rank || lane.kind != LaneKind::thread) continue;
    const auto found = innermost_at(run, lane, moment, name);
    if (found && (!best || run.span(*found).time.length() < run.span(*best).time.length())) best = found;
  }
  return best;
}

}  // namespace

std::optional<SpanId> innermost_at(const Run& run, const Lane& lane, RunTime moment, StringId name) {
  const auto spans = run.spans_of(lane);
  const auto begin_of = [](const Span& span) { return span.time.begin; };
  for (auto at = std::ranges::upper_bound(spans, moment, {}, begin_of); at != spans.begin();) {
    --at;
    if (at->time.contains(moment) && (!name.is_set() || at->name == name)) return run.id_of(*at);
    if (at->depth == 0) return std::nullopt;  // what is before it has ended
  }
  return std::nullopt;
}

void go_to_moment(Session& session, RankId rank, RunTime moment, StringId name) {
  const Run& run = *session.run();
  const TimeRange visible = session.visible();
  const auto* const step = step_at(session.report().get(), rank, moment);
  if (step != nullptr && visible.length() > 3 * step->window.length()) {
    const nanoseconds margin = step->window.length() / 10;
    session.go_to(TimeRange{step->window.begin - margin, step->window.end + margin}, rank);
  } else if (visible.contains(moment)) {
    session.go_to(visible, rank);
  } else {
    const nanoseconds half = visible.length() / 2;
    session.go_to(TimeRange{moment - half, moment - half + visible.length()}, rank);
  }
  auto span = open_on_host(run, rank, moment, name);
  if (!span) span = open_on_host(run, rank, moment, {});
  if (!span) return;
  session.select(span);
  Q_EMIT session.spanRevealRequested(*span);  // the zoom stays, even if the span is far longer
}

std::span<const analyzer::StepWindow> steps_of(const analyzer::Report* report, RankId rank) {
  if (report == nullptr || !report->steps) return {};
  const auto found = std::ranges::equal_range(report->steps->windows, rank, {}, &analyzer::StepWindow::rank);
  return {found.begin(), found.end()};
}

Area area_of_step(const Run& run, const analyzer::StepWindow& step) {
  Area area{step.window, {}};
  for (const Lane& lane : run.lanes())
    if (lane.rank == step.rank) area.lanes.push_back(run.id_of(lane));
  return area;
}

const analyzer::StepWindow* step_at(const analyzer::Report* report, RankId rank, RunTime moment) {
  const auto steps = steps_of(report, rank);
  const auto found =
      std::ranges::find_if(steps, [&](const analyzer::StepWindow& step) { return step.window.contains(moment); });
  return found == steps.end() ? nullptr : &*found;
}

QString no_steps_text(const analyzer::Report& report) {
  if (report.steps) return {};
  const QString why = qt_text(report.steps.error().why);
  return QObject::tr("Steps are not known: %1. %2")
      .arg(why, qt_text(analyzer::remedy_for(report, analyzer::section_id::steps)));
}

void show_steps(Session& session) {
  const auto& report = session.report();
  if (report == nullptr || !report->steps || report->steps->clocks_refused || report->steps->steps.empty()) return;
  if (session.visible() != session.extent()) return;
  TimeRange steps = report->steps->steps.front().time;
  for (const analyzer::Step& step : report->steps->steps)
    steps = {std::min(steps.begin, step.time.begin), std::max(steps.end, step.time.end)};
  constexpr double nearly_all = 0.9;
  const auto length = [](TimeRange time) { return static_cast<double>(time.length().count()); };
  if (steps.empty() || length(steps) > nearly_all * length(session.extent())) return;
  const nanoseconds margin = steps.length() / 50;
  session.set_visible({steps.begin - margin, steps.end + margin});
}

QString why_not_at(const Session& session, nanoseconds since_begin) {
  if (since_begin <= session.extent().length()) return {};
  return QObject::tr("--at must be within the run, which ends %1 after its start (is %2)")
      .arg(time_text(session.extent().length()), time_text(since_begin));
}

void look_at(Session& session, nanoseconds since_begin) {
  const auto look = [&session, since_begin] {
    constexpr nanoseconds half{50'000'000};
    const RunTime middle = session.extent().begin + since_begin;
    session.set_visible({middle - half, middle + half});
  };
  look();
  if (session.report() != nullptr) return;
  auto* const watch = new QObject(&session);
  const auto end = [&session, watch] {
    QObject::disconnect(&session, nullptr, watch, nullptr);
    watch->deleteLater();
  };
  // Where there is a report, it is what has moved the view.
  QObject::connect(&session, &Session::visibleRangeChanged, watch, [&session, end] {
    if (session.report() == nullptr) end();
  });
  QObject::connect(&session, &Session::reportChanged, watch, [look, end] {
    end();
    look();
  });
  QObject::connect(&session, &Session::runOpened, watch, end);
}

}  // namespace rankscope::gui
