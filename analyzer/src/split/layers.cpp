#include "split/layers.h"

#include <algorithm>
#include <optional>

#include "collectives/comm_ops.h"
#include "collectives/thread_moments.h"
#include "rankscope/core/model/host_work.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using Ranges = std::array<std::vector<TimeRange>, layer_count>;

std::vector<TimeRange>& of(Ranges& ranges, Layer layer) { return ranges[static_cast<std::size_t>(layer)]; }

bool waits_for_ranks(std::string_view name) {
  return name.find("barrier") != std::string_view::npos || name.find("store") != std::string_view::npos;
}

/// Cuts a host thread into stretches of one innermost classified span.
class ThreadWalk {
 public:
  enum class Role : std::uint8_t { main, worker };
  ThreadWalk(const Run& run, Role role, Ranges& out) : run_(run), role_(role), out_(out) {}

  void over(std::span<const Span> spans) {
    for (const Span& span : spans) {
      const HostWork work = host_work_of(span.kind);
      if (work == HostWork::none || span.time.empty()) continue;
      close_until(span.time.begin);
      open_.push_back({span.time.end, work, work == HostWork::sync && waits_for_ranks(run_.text(span.name))});
    }
    close_until(RunTime::max());
  }

 private:
  struct Open {
    RunTime end;
    HostWork work;
    bool for_others;
  };

  void close_until(RunTime time) {
    while (!open_.empty() && open_.back().end <= time) {
      emit(open_.back(), open_.back().end);
      open_.pop_back();
    }
    if (!open_.empty()) emit(open_.back(), time);
    now_ = time;
  }

  void emit(const Open& open, RunTime until) {
    if (until <= now_) return;
    const TimeRange stretch{now_, until};
    now_ = until;
    const bool main = role_ == Role::main;
    switch (open.work) {
      case HostWork::compute:
        of(out_, Layer::compute).push_back(stretch);
        break;
      case HostWork::wait:
        of(out_, Layer::host_wait).push_back(stretch);
        break;
      case HostWork::copies:
        of(out_, Layer::memory).push_back(stretch);
        break;
      case HostWork::data:
        if (main) of(out_, Layer::data).push_back(stretch);
        break;
      case HostWork::sync:
        if (main && open.for_others) of(out_, Layer::for_others).push_back(stretch);
        if (main) of(out_, Layer::sync).push_back(stretch);
        break;
      case HostWork::communication:  // add_communication knows its parts
      case HostWork::none:
        break;
    }
  }

  const Run& run_;
  Role role_;
  Ranges& out_;
  std::vector<Open> open_;  // innermost last
  RunTime now_ = RunTime::min();
};

/// On an accelerator communication is what its streams do, not the host calls of it.
bool keeps_lane_busy(const Run& run, const Lane& lane, const Span& span) {
  return span.kind == SpanKind::comm && !(lane.kind == LaneKind::thread && run.has_accelerator(lane.rank));
}

/// metrics.md 2, edge: of a group of one rank.
bool is_alone(const Run& run, const Span& span) {
  if (span.collective == Span::no_collective) return false;
  const Collective& collective = run.collectives()[span.collective];
  return collective.group.is_set() && !is_shared(run, collective);
}

bool is_loader(const Run& run, const Lane& lane) {
  if (run.text(lane.name).starts_with("loader")) return true;
  return std::ranges::any_of(run.spans_of(lane), [](const Span& span) { return span.kind == SpanKind::loader; });
}

/// One comm span: waiting and moving if it was matched.
void add_communication(const Run& run, const Matching& matching, const Span& span, Ranges& out) {
  if (span.collective == Span::no_collective) {
    of(out, Layer::unsplit).push_back(span.time);
    return;
  }
  const MemberPart& part = matching.parts[span.collective];
  if (is_alone(run, span)) {
    of(out, Layer::memory).push_back(span.time);
  } else if (!part.split) {
    of(out, Layer::unsplit).push_back(span.time);
  } else {
    const RunTime moves = std::min(span.time.begin + nanoseconds{part.wait_ns}, span.time.end);
    of(out, Layer::wait).push_back({span.time.begin, moves});
    of(out, part.rest_is_transfer ? Layer::transfer : Layer::unsplit).push_back({moves, span.time.end});
  }
}

/// Stretches in which a collective was enqueued and its lane free, but the rank had not started it.
void add_own_delays(const Run& run, const Lane& lane, Ranges& out) {
  RunTime free_since = RunTime::min();
  for (const Span& span : run.spans_of(lane)) {
    if (span.kind != SpanKind::comm) continue;
    if (span.collective != Span::no_collective) {
      const RunTime ready = std::max(run.collectives()[span.collective].enqueued, free_since);
      of(out, Layer::own_delay).push_back({ready, std::max(ready, span.time.begin)});
    }
    free_since = std::max(free_since, span.time.end);
  }
}

bool is_pair(const Run& run, const Span& span) {
  return span.kind == SpanKind::comm && span.collective != Span::no_collective &&
         is_point_to_point(run.text(run.collectives()[span.collective].op));
}

/// metrics.md 9.1: stretches in which a thread went on with the program after it had called a send or receive.
void add_work_during_pairs(const Run& run, const Lane& lane, Ranges& out) {
  if (!is_program_thread(run, lane)) return;
  std::optional<ThreadMoments> moments;
  std::vector<TimeRange> free;
  std::vector<TimeRange> blocked;
  for (const Span& span : run.spans_of(lane)) {
    if (!is_pair(run, span)) continue;
    if (!moments) moments.emplace(run, lane);
    const RunTime until = moments->free_until(span.time);
    free.push_back({span.time.begin, until});
    blocked.push_back({until, span.time.end});
  }
  const IntervalSet work = without(IntervalSet::from(std::move(free)), IntervalSet::from(std::move(blocked)));
  of(out, Layer::own_in_comm)
      .insert(of(out, Layer::own_in_comm).end(), work.intervals().begin(), work.intervals().end());
}

void add_stream(const Run& run, const Lane& lane, Ranges& out) {
  for (const Span& span : run.spans_of(lane)) {
    // What a graph replay did is not known; it kept the device busy, so it counts as compute.
    if (span.kind == SpanKind::compute || span.kind == SpanKind::graph) of(out, Layer::compute).push_back(span.time);
    if (span.kind == SpanKind::memory) of(out, Layer::memory).push_back(span.time);
  }
}

/// When anything ran on the accelerator.
constexpr std::array busy_layers_of_device{Layer::compute, Layer::memory, Layer::transfer, Layer::wait, Layer::unsplit};

/// `of_layer` gives the ranges of one.
template <class OfLayer>
IntervalSet joined(std::span<const Layer> chosen, OfLayer of_layer) {
  std::vector<TimeRange> all;
  for (const Layer layer : chosen) {
    const std::span<const TimeRange> own = of_layer(static_cast<std::size_t>(layer));
    all.insert(all.end(), own.begin(), own.end());
  }
  return IntervalSet::from(std::move(all));
}

Layer layer_of(IdleCause cause) {
  switch (cause) {
    case IdleCause::host:
      return Layer::host_late;
    case IdleCause::sync:
      return Layer::sync;
    case IdleCause::data:
      return Layer::data;
    case IdleCause::kernel_gap:
      return Layer::kernel_gap;
    case IdleCause::other:
      break;
  }
  return Layer::accelerator;
}

void add_lane(const Run& run, const Lane& lane, const Matching& matching, ThreadWalk::Role role, Ranges& out) {
  for (const Span& span : run.spans_of(lane))
    if (keeps_lane_busy(run, lane, span)) add_communication(run, matching, span, out);
  if (run.has_accelerator(lane.rank)) {
    if (lane.kind == LaneKind::stream) add_stream(run, lane, out);
    return;
  }
  add_own_delays(run, lane, out);
  add_work_during_pairs(run, lane, out);
  if (lane.kind == LaneKind::thread) ThreadWalk(run, role, out).over(run.spans_of(lane));
}

}  // namespace

std::optional<LaneId> main_lane(const Run& run, RankId rank) {
  const std::uint32_t process = run.process_row_of(rank);
  const Lane* best = nullptr;
  std::pair<std::size_t, std::size_t> most{0, 0};
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind != LaneKind::thread || is_loader(run, lane)) continue;
    const auto steps = std::ranges::count(run.spans_of(lane), SpanKind::step, &Span::kind);
    const std::pair<std::size_t, std::size_t> size{static_cast<std::size_t>(steps), lane.span_count};
    if (best == nullptr || size > most) {
      best = &lane;
      most = size;
    }
  }
  return best == nullptr ? std::nullopt : std::optional{run.id_of(*best)};
}

std::vector<const Span*> communication_of(const Run& run, RankId rank) {
  std::vector<const Span*> spans;
  const std::uint32_t process = run.process_row_of(rank);
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || (lane.kind == LaneKind::thread && is_loader(run, lane))) continue;
    for (const Span& span : run.spans_of(lane))
      if (keeps_lane_busy(run, lane, span) && !is_alone(run, span)) spans.push_back(&span);
  }
  std::ranges::stable_sort(spans, {}, [](const Span* span) { return span->time.begin; });
  return spans;
}

namespace {

Ranges busy_ranges(const Run& run, RankId rank, const Matching& matching) {
  Ranges ranges;
  const std::uint32_t process = run.process_row_of(rank);
  const std::optional<LaneId> main = main_lane(run, rank);
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || (lane.kind == LaneKind::thread && is_loader(run, lane))) continue;
    const bool is_main = main && *main == run.id_of(lane);
    add_lane(run, lane, matching, is_main ? ThreadWalk::Role::main : ThreadWalk::Role::worker, ranges);
  }
  return ranges;
}

Layers as_sets(Ranges ranges) {
  Layers layers;
  for (std::size_t i = 0; i < layer_count; ++i) layers[i] = IntervalSet::from(std::move(ranges[i]));
  return layers;
}

}  // namespace

Layers busy_layers(const Run& run, RankId rank, const Matching& matching) {
  return as_sets(busy_ranges(run, rank, matching));
}

RankLayers layers_of(const Run& run, RankId rank, const Matching& matching) {
  Ranges ranges = busy_ranges(run, rank, matching);
  RankLayers result;
  if (run.has_accelerator(rank)) {
    const TimeRange recorded = run.process_of(rank).recorded;
    result.idle = device_idle(
        run, rank, joined(busy_layers_of_device, [&](std::size_t layer) { return std::span{ranges[layer]}; }),
        {std::min(recorded.begin, run.extent().begin), std::max(recorded.end, run.extent().end)});
    for (const IdleStretch& stretch : result.idle) of(ranges, layer_of(stretch.reason.cause)).push_back(stretch.time);
    of(ranges, Layer::accelerator).push_back({RunTime::min(), RunTime::max()});
    const auto of_layer = [&](std::size_t layer) { return std::span{ranges[layer]}; };
    const IntervalSet exposed =
        without(joined(communication_layers, of_layer), joined(std::array{Layer::compute}, of_layer));
    of(ranges, Layer::own_in_comm) = host_late_during(run, rank, exposed);
  }
  result.layers = as_sets(std::move(ranges));
  return result;
}

IntervalSet union_of(const Layers& layers, std::span<const Layer> chosen) {
  return joined(chosen, [&](std::size_t layer) { return layers[layer].intervals(); });
}

bool is_classified(const Layers& layers) {
  const auto holds = [&](Layer layer) { return !layers[static_cast<std::size_t>(layer)].empty(); };
  return holds(Layer::compute) || holds(Layer::transfer) || holds(Layer::wait) || holds(Layer::unsplit) ||
         holds(Layer::host_wait) || holds(Layer::memory) || holds(Layer::data) || holds(Layer::sync);
}

}  // namespace rankscope::analyzer
