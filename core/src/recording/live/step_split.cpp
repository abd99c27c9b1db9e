// How the time of steps is split, and curves that keep a bounded number of values.
#include <algorithm>
#include <array>

#include "recording/live/decoder.h"

namespace rankscope::recording {
namespace {

/// Of a step, or of a stretch of one layer.
struct Edge {
  HostTime time;
  std::uint8_t layer;
  std::int8_t change;  ///< 1 at the begin, -1 at the end
};
constexpr std::uint8_t step_layer = live_layer_count;

void add_edges(std::vector<Edge>& edges, HostTime begin, HostTime end, std::uint8_t layer) {
  if (end <= begin) return;
  edges.push_back({begin, layer, 1});
  edges.push_back({end, layer, -1});
}

nanoseconds& part_of(LiveSplit& split, std::size_t layer) {
  const std::array parts{&split.compute, &split.communication, &split.copies, &split.data, &split.wait, &split.other};
  return *parts[layer];
}

}  // namespace

// Sweep over the edges: between two neighbouring ones the set of layers is constant.
void split_steps(std::span<LiveStep> steps, std::span<const LiveStretch> stretches) {
  std::vector<Edge> edges;
  for (LiveStep& step : steps) {
    step.split = LiveSplit{};
    add_edges(edges, step.begin, step.begin + step.duration, step_layer);
  }
  for (const LiveStretch& stretch : stretches)
    add_edges(edges, stretch.begin, stretch.end, static_cast<std::uint8_t>(stretch.layer));
  std::ranges::sort(edges, {}, &Edge::time);
  std::array<int, live_layer_count + 1> open{};
  auto step = steps.begin();
  HostTime now{};
  for (const Edge& edge : edges) {
    if (open[step_layer] > 0 && edge.time > now) {
      while (step->begin + step->duration <= now) ++step;
      const auto* const top = std::ranges::find_if(open, [](int count) { return count > 0; });
      part_of(*step->split, static_cast<std::size_t>(top - open.data())) += edge.time - now;
    }
    now = edge.time;
    open[edge.layer] += edge.change;
  }
}

void LiveSeries::add(HostTime time, double value) {
  if (!values_.empty() && time < values_.back().time + stretch_) {
    values_.back().value = std::max(values_.back().value, value);
    return;
  }
  if (values_.size() >= most_) halve();
  values_.push_back({time, value});
}

void LiveSeries::halve() {
  stretch_ *= 2;
  std::vector<LiveValue> rest;
  for (const LiveValue& value : values_) {
    if (!rest.empty() && value.time < rest.back().time + stretch_)
      rest.back().value = std::max(rest.back().value, value.value);
    else
      rest.push_back(value);
  }
  if (rest.size() >= most_) rest.erase(rest.begin());  // samples that are far apart: the oldest goes
  values_ = std::move(rest);
}

}  // namespace rankscope::recording
