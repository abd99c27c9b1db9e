#include "rankscope/gui/models/timeline/neighbours.h"

#include <algorithm>
#include <map>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

/// Spans of a name on a lane that begin in a range, in order.
std::vector<SpanId> of_name(const Run& run, const Lane& lane, StringId name, TimeRange range) {
  std::vector<SpanId> found;
  const auto spans = run.spans_of(lane);
  const auto begin_of = [](const Span& span) { return span.time.begin; };
  for (auto at = std::ranges::lower_bound(spans, range.begin, {}, begin_of);
       at != spans.end() && at->time.begin < range.end; ++at)
    if (at->name == name) found.push_back(run.id_of(*at));
  return found;
}

const analyzer::StepWindow* step_with(const Facts& facts, RankId rank, std::int64_t index) {
  for (const analyzer::StepWindow& step : facts.report->steps->windows)
    if (step.rank == rank && step.index == index) return &step;
  return nullptr;
}

std::optional<SpanId> nearest(const Run& run, const std::vector<SpanId>& spans, RunTime moment) {
  const auto distance = [&](SpanId id) { return std::chrono::abs(run.span(id).time.begin - moment); };
  const auto found = std::ranges::min_element(spans, {}, distance);
  return found == spans.end() ? std::nullopt : std::optional{*found};
}

/// The counterpart of a span on one lane of another rank.
std::optional<SpanId> counterpart(const Facts& facts, SpanId from, const Lane& lane) {
  const Run& run = *facts.run;
  const Span& span = run.span(from);
  const Lane& own = run.lane(span.lane);
  const analyzer::StepWindow* const here = step_at(facts.report.get(), own.rank, span.time.begin);
  const analyzer::StepWindow* const there = here == nullptr ? nullptr : step_with(facts, lane.rank, here->index);
  if (there == nullptr) return nearest(run, of_name(run, lane, span.name, run.extent()), span.time.begin);
  const auto before = of_name(run, own, span.name, {here->window.begin, span.time.begin}).size();
  const auto others = of_name(run, lane, span.name, there->window);
  return before < others.size() ? std::optional{others[before]} : std::nullopt;
}

std::optional<SpanId> member_on(const Facts& facts, SpanId from, RankId rank) {
  for (const SpanId member : members_of(facts, from))
    if (facts.run->lane(facts.run->span(member).lane).rank == rank) return member;
  return std::nullopt;
}

}  // namespace

std::vector<SpanId> members_of(const Facts& facts, SpanId span) {
  std::vector<SpanId> members;
  const std::uint32_t row = facts.run->span(span).collective;
  if (row == Span::no_collective || !facts.report_fits || !facts.report->collectives) return members;
  for (const analyzer::Operation& operation : facts.report->collectives->operations) {
    if (std::ranges::find(operation.members, row) == operation.members.end()) continue;
    for (const std::uint32_t member : operation.members)
      if (const SpanId other = facts.run->collectives()[member].span; other.is_set()) members.push_back(other);
  }
  return members;
}

std::optional<SpanId> next_in_lane(const Facts& facts, SpanId from, Direction direction) {
  const lod::RowPlace at = facts.lod->place_of(from);
  const lod::RowLod& row = facts.lod->lane(facts.run->span(from).lane).rows[at.row];
  if (direction == Direction::back) return at.place == 0 ? std::nullopt : std::optional{row.id(at.place - 1)};
  return at.place + 1 < row.size() ? std::optional{row.id(at.place + 1)} : std::nullopt;
}

std::optional<SpanId> next_of_name(const Facts& facts, SpanId from, Direction direction) {
  const Run& run = *facts.run;
  const Span& span = run.span(from);
  const Lane& lane = run.lane(span.lane);
  const std::uint32_t first = lane.first_span;
  const std::uint32_t end = first + lane.span_count;
  if (direction == Direction::forward) {
    for (std::uint32_t row = from.value + 1; row < end; ++row)
      if (run.spans()[row].name == span.name) return SpanId{row};
  } else {
    for (std::uint32_t row = from.value; row-- > first;)
      if (run.spans()[row].name == span.name) return SpanId{row};
  }
  return std::nullopt;
}

std::optional<SpanId> next_collective(const Facts& facts, RankId rank, RunTime from, Direction direction) {
  std::optional<SpanId> best;
  nanoseconds least = nanoseconds::max();
  for (const Collective& one : facts.run->collectives()) {
    if (one.rank != rank || !one.span.is_set()) continue;
    const nanoseconds ahead = direction == Direction::forward ? one.started - from : from - one.started;
    if (ahead <= nanoseconds{0} || ahead >= least) continue;
    least = ahead;
    best = one.span;
  }
  return best;
}

std::optional<SpanId> same_on_next_rank(const Facts& facts, SpanId from, Direction direction) {
  const Run& run = *facts.run;
  const Lane& own = run.lane(run.span(from).lane);
  std::vector<RankId> others{run.ranks().begin(), run.ranks().end()};
  if (direction == Direction::back) std::ranges::reverse(others);
  const auto at = std::ranges::find(others, own.rank);
  if (at == others.end()) return std::nullopt;
  for (auto rank = at + 1; rank != others.end(); ++rank) {
    if (const auto member = member_on(facts, from, *rank)) return member;
    std::vector<SpanId> found;
    for (const Lane& lane : run.lanes())
      if (lane.rank == *rank && lane.kind == own.kind)
        if (const auto same = counterpart(facts, from, lane)) found.push_back(*same);
    if (const auto same = nearest(run, found, run.span(from).time.begin)) return same;
  }
  return std::nullopt;
}

std::vector<SpanId> same_on_other_ranks(const Run& run, const analyzer::Report& report, SpanId from) {
  const Span& span = run.span(from);
  const Lane& own = run.lane(span.lane);
  const analyzer::StepWindow* const here = step_at(&report, own.rank, span.time.begin);
  if (here == nullptr || span.collective != Span::no_collective) return {};
  std::map<RankId, TimeRange> windows;
  for (const analyzer::StepWindow& step : report.steps->windows)
    if (step.index == here->index && step.rank != own.rank) windows.emplace(step.rank, step.window);
  const auto place = of_name(run, own, span.name, {here->window.begin, span.time.begin}).size();
  std::map<RankId, std::vector<SpanId>> found;
  for (const Lane& lane : run.lanes()) {
    const auto there = windows.find(lane.rank);
    if (lane.kind != own.kind || there == windows.end()) continue;
    const auto others = of_name(run, lane, span.name, there->second);
    if (place < others.size()) found[lane.rank].push_back(others[place]);
  }
  std::vector<SpanId> same;
  for (const auto& [rank, candidates] : found) same.push_back(*nearest(run, candidates, span.time.begin));
  return same;
}

std::optional<SpanId> next_lit(const Facts& facts, const std::vector<bool>& lit, const std::vector<RankId>& ranks,
                               RunTime from, Direction direction) {
  const Run& run = *facts.run;
  std::optional<SpanId> best;
  nanoseconds least = nanoseconds::max();
  const auto begin_of = [](const Span& span) { return span.time.begin; };
  const auto consider = [&](const Span& span) {
    const nanoseconds ahead = std::chrono::abs(span.time.begin - from);
    if (!lit[span.name.index()] || ahead == nanoseconds{0} || ahead >= least) return lit[span.name.index()];
    least = ahead;
    best = run.id_of(span);
    return true;
  };
  for (const Lane& lane : run.lanes()) {
    if (!ranks.empty() && std::ranges::find(ranks, lane.rank) == ranks.end()) continue;
    const auto spans = run.spans_of(lane);
    if (direction == Direction::forward) {
      for (auto at = std::ranges::upper_bound(spans, from, {}, begin_of); at != spans.end(); ++at)
        if (at->time.begin - from >= least || consider(*at)) break;
    } else {
      for (auto at = std::ranges::lower_bound(spans, from, {}, begin_of); at != spans.begin();)
        if (from - (--at)->time.begin >= least || consider(*at)) break;
    }
  }
  return best;
}

}  // namespace rankscope::gui
