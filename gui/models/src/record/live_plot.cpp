#include "rankscope/gui/models/record/live_plot.h"

#include <algorithm>
#include <numeric>

#include "rankscope/analyzer/words.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/record/live_preview.h"

namespace rankscope::gui {
namespace {

using recording::LiveCurve;
using recording::LiveProcess;
using recording::LiveSplit;
using recording::LiveStep;
using recording::LiveView;

/// Something that was measured, in the units of both axes.
struct Sample {
  HostTime time;
  double value;
};
struct Samples {
  QString name;
  std::vector<Sample> samples;
};

/// 0 on the upward axis is nothing, 1 is the largest value.
LivePlot scaled(const std::vector<Samples>& all, double& top) {
  LivePlot plot;
  HostTime first = HostTime::max();
  HostTime last = HostTime::min();
  top = 0;
  for (const Samples& one : all)
    for (const Sample& sample : one.samples) {
      first = std::min(first, sample.time);
      last = std::max(last, sample.time);
      top = std::max(top, sample.value);
    }
  if (top <= 0) return plot;
  const nanoseconds length = std::max(last - first, nanoseconds{1});
  for (const Samples& one : all) {
    LivePlot::Line line{one.name, {}};
    for (const Sample& sample : one.samples)
      line.points.emplace_back(static_cast<double>((sample.time - first).count()) / static_cast<double>(length.count()),
                               std::max(0.0, sample.value) / top);
    plot.lines.push_back(std::move(line));
  }
  plot.span = time_text(last - first);
  return plot;
}

const LiveCurve* curve_of(const LiveProcess& process, MemoryOf memory) {
  const auto named = [&process](std::string_view name) {
    return std::ranges::find(process.memory, name, &LiveCurve::name);
  };
  const auto is_wanted = [memory](const LiveCurve& curve) {
    return is_of_device(curve.name) == (memory == MemoryOf::device);
  };
  auto curve = named("allocated_bytes");
  if (memory == MemoryOf::host || curve == process.memory.end())
    curve = std::ranges::find_if(process.memory, is_wanted);
  return curve == process.memory.end() ? nullptr : &*curve;
}

}  // namespace

LivePlot step_plot(const LiveView& view) {
  std::vector<Samples> all;
  for (const LiveProcess& process : view.processes) {
    Samples samples{QStringLiteral("%1: %2").arg(name_of(process)).arg(process.steps), {}};
    for (const LiveStep& step : process.last)
      samples.samples.push_back({step.begin, static_cast<double>(step.duration.count())});
    if (!samples.samples.empty()) all.push_back(std::move(samples));
  }
  double top = 0;
  LivePlot plot = scaled(all, top);
  if (!plot.lines.empty()) plot.top = time_text(nanoseconds{static_cast<std::int64_t>(top)});
  return plot;
}

LivePlot memory_plot(const LiveView& view, MemoryOf memory) {
  std::vector<Samples> all;
  for (const LiveProcess& process : view.processes) {
    const LiveCurve* const curve = curve_of(process, memory);
    if (curve == nullptr) continue;
    Samples samples{name_of(process), {}};
    for (const recording::LiveValue& value : curve->values) samples.samples.push_back({value.time, value.value});
    all.push_back(std::move(samples));
  }
  double top = 0;
  LivePlot plot = scaled(all, top);
  if (!plot.lines.empty()) plot.top = qt_text(analyzer::bytes_text(static_cast<std::int64_t>(top)));
  return plot;
}

std::vector<LiveBar> split_bars(const LiveView& view) {
  std::vector<LiveBar> bars;
  for (const LiveProcess& process : view.processes) {
    const auto split = summary_of(process).split;
    if (!split) continue;
    LiveBar bar{name_of(process), {}};
    const std::array parts{split->compute, split->communication, split->copies, split->data, split->wait, split->other};
    const nanoseconds all = std::accumulate(parts.begin(), parts.end(), nanoseconds{0});
    if (all <= nanoseconds{0}) continue;
    std::ranges::transform(parts, bar.shares.begin(), [all](nanoseconds part) {
      return static_cast<double>(part.count()) / static_cast<double>(all.count());
    });
    bars.push_back(std::move(bar));
  }
  return bars;
}

}  // namespace rankscope::gui
