#include "rankscope/core/lod/run_lod.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "lod/row_lod_build.h"
#include "rankscope/core/model/run.h"

namespace rankscope::lod {
namespace {

/// Records of waiting enclose the kernels that are waited for: on a stream they have rows of their own, below all
/// others, so that kernels are in the first row.
enum class Part : std::uint8_t { work, waiting };
Part part_of(const Lane& lane, const Span& span) {
  return lane.kind == LaneKind::stream && span.kind == SpanKind::sync ? Part::waiting : Part::work;
}

/// Indices of a part of a lane's spans by row. Each span stands in the first row that is free below all spans that
/// enclose it. Some are missing if it was stopped.
std::vector<std::vector<std::uint32_t>> rows_of(std::span<const Span> spans, const Lane& lane, Part part,
                                                const std::stop_token& stop) {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<RunTime> ends;  // of the last span of each row; rows behind the last one in use are left out
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (i % spans_between_looks == 0 && stop.stop_requested()) break;
    if (part_of(lane, spans[i]) != part) continue;
    const TimeRange time = spans[i].time;
    while (!ends.empty() && ends.back() <= time.begin) ends.pop_back();
    // From below, up to the deepest row whose span encloses this one: only the last span of a row can.
    std::size_t wanted = ends.size();
    for (std::size_t row = ends.size(); row-- > 0;) {
      if (ends[row] <= time.begin)
        wanted = row;
      else if (ends[row] >= time.end)
        break;
    }
    if (wanted == ends.size()) ends.emplace_back();
    if (wanted == rows.size()) rows.emplace_back();
    ends[wanted] = time.end;
    rows[wanted].push_back(i);
  }
  return rows;
}

bool is_flat(std::span<const Span> spans) {
  return std::ranges::adjacent_find(spans, [](const Span& a, const Span& b) { return a.time.end > b.time.begin; }) ==
         spans.end();
}

LaneLod lane_lod(const Run& run, const Lane& lane, const std::stop_token& stop) {
  LaneLod lod;
  const auto spans = run.spans_of(lane);
  const bool waits = lane.kind == LaneKind::stream && std::ranges::any_of(spans, [&lane](const Span& span) {
                       return part_of(lane, span) == Part::waiting;
                     });
  if (!waits && is_flat(spans)) {
    if (!spans.empty()) lod.rows.emplace_back(spans, lane.first_span, stop);
    return lod;
  }
  for (const Part part : {Part::work, Part::waiting})
    for (std::vector<std::uint32_t>& row : rows_of(spans, lane, part, stop))
      lod.rows.emplace_back(spans, lane.first_span, std::move(row), stop);
  return lod;
}

ValueLod counter_lod(const Run& run, const CounterTrack& counter) {
  const auto samples = run.samples_of(counter);
  return {samples.size(), [samples](std::size_t i) { return samples[i].value; }};
}

}  // namespace

std::shared_ptr<const RunLod> RunLod::build(std::shared_ptr<const Run> run, const std::stop_token& stop,
                                            unsigned threads) {
  auto lod = std::make_shared<RunLod>();
  lod->run_ = std::move(run);
  const auto lanes = lod->run_->lanes();
  const auto counters = lod->run_->counters();
  lod->lanes_.resize(lanes.size());
  lod->counters_.resize(counters.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < lanes.size() + counters.size() && !stop.stop_requested(); i = next++) {
      if (i < lanes.size())
        lod->lanes_[i] = lane_lod(*lod->run_, lanes[i], stop);
      else
        lod->counters_[i - lanes.size()] = counter_lod(*lod->run_, counters[i - lanes.size()]);
    }
  };
  {
    std::vector<std::jthread> helpers;
    const unsigned wanted = threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads;
    for (unsigned i = 1; i < std::min<std::size_t>(wanted, lanes.size() + counters.size()); ++i)
      helpers.emplace_back(work);
    work();
  }
  return stop.stop_requested() ? nullptr : lod;
}

Bounds RunLod::bounds_of_counter(std::size_t row) const {
  const auto samples = run_->samples_of(run_->counters()[row]);
  return counters_[row].of(0, samples.size(), [samples](std::size_t i) { return samples[i].value; });
}

RowPlace RunLod::place_of(SpanId span) const {
  const Span& wanted = run_->span(span);
  const LaneLod& lod = lane(wanted.lane);
  for (std::uint32_t row = 0; row < lod.rows.size(); ++row) {
    // Several spans of no length may begin at one time.
    const RowLod& spans = lod.rows[row];
    for (Place place = spans.first_beginning_at(wanted.time.begin);
         place < spans.size() && spans.span(place).time.begin == wanted.time.begin; ++place)
      if (spans.id(place) == span) return {row, place};
  }
  RS_CHECK(!"each span stands on its lane");
  return {};
}

std::size_t RunLod::byte_count() const {
  std::size_t bytes = sizeof(RunLod) + lanes_.capacity() * sizeof(LaneLod);
  for (const LaneLod& lane : lanes_)
    for (const RowLod& row : lane.rows) bytes += row.byte_count();
  for (const ValueLod& counter : counters_) bytes += sizeof(ValueLod) + counter.byte_count();
  return bytes;
}

}  // namespace rankscope::lod
