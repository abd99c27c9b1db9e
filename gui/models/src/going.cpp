#include "rankscope/gui/models/going.h"

#include <algorithm>

#include "rankscope/gui/models/steps.h"

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

}  // namespace rankscope::gui
