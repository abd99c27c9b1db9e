#include "launches/local.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "math/interval_set.h"
#include "rankscope/core/model/run.h"
#include "split/device_work.h"

namespace rankscope::analyzer {
namespace {

/// A graph launch starts several activities, so that its call is that of none of them.
enum class LaunchedBy : std::uint8_t { call, graph };

void take(LaunchesPart::Begun& begun, const Span& work, const Span* call, LaunchedBy by) {
  if (call == nullptr) {
    ++begun.without_launch;
    return;
  }
  ++begun.launches;
  if (work.time.begin < call->time.end) ++begun.began_in_call;
  if (work.time.begin < call->time.begin) ++begun.began_before_call;
  begun.delays.push_back(std::max<std::int64_t>(0, (work.time.begin - call->time.end).count()));
  begun.issues.push_back((work.time.begin - call->time.begin).count());
  if (by == LaunchedBy::graph) {
    ++begun.in_graphs;
    return;
  }
  begun.calls.push_back(call->time.length().count());
  if (work.kind == SpanKind::memory) return;
  ++begun.kernels;
  begun.kernels_ns += work.time.length().count();
  if (work.time.length() >= call->time.length()) return;
  ++begun.short_kernels;
  begun.short_ns += work.time.length().count();
}

/// What belongs to one row, while it is collected.
struct RowDraft {
  std::map<std::uint32_t, LaunchesPart::Begun> begun;  // by cell
  std::vector<Queued> queued;
  std::vector<TimeRange> busy;

  LaunchesPart::Row finish(std::pair<std::int32_t, std::int64_t> stream, const TimeCells& cells) && {
    LaunchesPart::Row row;
    std::tie(row.device, row.stream) = stream;
    for (auto& [cell, own] : begun) {
      own.cell = cell;
      for (auto* const values : {&own.calls, &own.delays, &own.issues}) std::ranges::sort(*values);
      row.begun.push_back(std::move(own));
    }
    QueueWalk walk{queued, IntervalSet::from(std::move(busy))};
    for (std::size_t cell = 1; cell <= cells.bounded(); ++cell) row.queued.push_back(walk.over(cells.range(cell)));
    return row;
  }
};

/// All streams of a rank.
class RankDraft {
 public:
  RankDraft(const Run& run, std::span<const std::uint8_t> uses, const TimeCells& cells)
      : run_(run), uses_(uses), cells_(cells) {}

  void add_stream(const Lane& lane) {
    RowDraft& stream = streams_[{lane.device, lane.number}];
    auto link = std::ranges::lower_bound(run_.links(), std::pair{LinkKind::launch, SpanId{lane.first_span}}, {},
                                         [](const Link& each) {
                                           return std::pair{each.kind, each.to};
                                         });
    for (const Span& span : run_.spans_of(lane)) {
      if (!is_activity(span.kind)) continue;
      const auto is_launch = [&] { return link != run_.links().end() && link->kind == LinkKind::launch; };
      while (is_launch() && link->to < run_.id_of(span)) ++link;
      const bool launched = is_launch() && link->to == run_.id_of(span);
      const Span* const call = launched ? &run_.span(link->from) : nullptr;
      const bool in_graph = launched && uses_[link->from.index()] > 1;
      const auto cell = static_cast<std::uint32_t>(cells_.at(span.time.begin));
      for (RowDraft* const to : {&all_, &stream}) {
        to->busy.push_back(span.time);
        if (call != nullptr) to->queued.push_back({call->time.begin, span.time.begin});
        take(to->begun[cell], span, call, in_graph ? LaunchedBy::graph : LaunchedBy::call);
      }
    }
  }

  void finish(LaunchesPart& part) && {
    part.all = std::move(all_).finish({-1, -1}, cells_);
    for (auto& [key, stream] : streams_) part.streams.push_back(std::move(stream).finish(key, cells_));
  }

 private:
  const Run& run_;
  std::span<const std::uint8_t> uses_;
  const TimeCells& cells_;
  RowDraft all_;
  std::map<std::pair<std::int32_t, std::int64_t>, RowDraft> streams_;
};

}  // namespace

LocalLaunches::LocalLaunches(const Run& run) : run_(run), uses_(run.spans().size(), 0) {
  for (const Link& link : run.links()) {
    if (link.kind != LinkKind::launch) continue;
    any_launch_ = true;
    if (uses_[link.from.index()] < 2) ++uses_[link.from.index()];
  }
}

LaunchesPart LocalLaunches::of(RankId rank, const TimeCells& cells) const {
  LaunchesPart part;
  part.any_launch = any_launch_;
  RankDraft draft{run_, uses_, cells};
  const auto process = run_.process_row_of(rank);
  for (const Lane& lane : run_.lanes())
    if (lane.process == process && lane.kind == LaneKind::stream) draft.add_stream(lane);
  std::move(draft).finish(part);
  return part;
}

}  // namespace rankscope::analyzer
