// The preview of a run that is being recorded: durations of steps, what they were spent on, memory.
#pragma once

#include <QWidget>

#include "base/colours.h"
#include "rankscope/gui/models/record/live_preview.h"

class QPainter;

namespace rankscope::gui {

struct LivePlot;

/// Parts without data are left out; what is missing is said by note_of(). A table has the same numbers.
class LiveChart : public QWidget {
  Q_OBJECT

 public:
  explicit LiveChart(LivePreview& preview, QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paint_plot(QPainter& painter, const QRectF& box, const QString& title, const LivePlot& plot) const;
  void paint_bars(QPainter& painter, const QRectF& box) const;
  void paint_legend(QPainter& painter, QRectF line) const;
  [[nodiscard]] const ThemeColours& theme() const;
  [[nodiscard]] double line_height() const;

  LivePreview& preview_;
};

/// Of the n-th process; repeats after eight. They can be told apart with red-green blindness.
[[nodiscard]] QColor colour_of_process(std::size_t number);

}  // namespace rankscope::gui
