#include "data_loading/local.h"

#include <algorithm>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

bool is_worker(const Run& run, const Lane& lane) {
  const auto spans = run.spans_of(lane);
  return std::ranges::any_of(spans, [](const Span& span) { return span.kind == SpanKind::loader; }) ||
         (spans.empty() && run.text(lane.name).starts_with("loader"));
}

/// Those inside others, and those that only overlap, are left out.
void add_outermost(const Run& run, const Lane& lane, SpanKind kind, std::vector<TimeRange>& out) {
  RunTime until = RunTime::min();
  for (const Span& span : run.spans_of(lane)) {
    if (span.kind != kind || span.time.begin < until) continue;
    out.push_back(span.time);
    until = span.time.end;
  }
}

bool loads_itself(const Run& run, const Lane& lane) {
  return std::ranges::any_of(run.spans_of(lane), [&](const Span& span) {
    return span.kind == SpanKind::data && run.text(span.name).find("SingleProcess") != std::string_view::npos;
  });
}

}  // namespace

DataLoadingPart local_data_loading(const Run& run, RankId rank) {
  DataLoadingPart loading;
  const auto process = run.process_row_of(rank);
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind != LaneKind::thread) continue;
    if (is_worker(run, lane)) {
      add_outermost(run, lane, SpanKind::loader, loading.loads.emplace_back());
    } else {
      add_outermost(run, lane, SpanKind::data, loading.waits);
      loading.own_thread = loading.own_thread || loads_itself(run, lane);
    }
  }
  std::ranges::sort(loading.waits, {}, &TimeRange::begin);
  return loading;
}

}  // namespace rankscope::analyzer
