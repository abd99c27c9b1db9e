// Lines and bars of the preview, before anything is painted.
#pragma once

#include <QPointF>
#include <QString>
#include <array>
#include <vector>

#include "rankscope/core/recording/live.h"

namespace rankscope::gui {

/// A line per process; both axes go from 0 to 1.
struct LivePlot {
  /// The curve of one process.
  struct Line {
    QString name;
    std::vector<QPointF> points;  ///< x ascending
  };
  std::vector<Line> lines{};  ///< in the order of the processes; without empty ones
  QString top{};              ///< what 1 on the upward axis means: "12.000 ms"; empty without lines
  QString span{};             ///< how long the axis of time is
};

/// Durations of the last steps of each process, by when they began; "rank 3: 57" has done 57 in all.
[[nodiscard]] LivePlot step_plot(const recording::LiveView& view);

/// Whose memory is drawn.
enum class MemoryOf : std::uint8_t { host, device };
/// In place of the device's memory in use stands what the framework allocated, where it tells that.
[[nodiscard]] LivePlot memory_plot(const recording::LiveView& view, MemoryOf memory);

/// Shares of the last steps of a process, which add up to 1.
struct LiveBar {
  QString name;
  std::array<double, 6> shares{};  ///< as LiveSplit has them: compute, communication, copies, data, wait, other
};
[[nodiscard]] std::vector<LiveBar> split_bars(const recording::LiveView& view);

}  // namespace rankscope::gui
