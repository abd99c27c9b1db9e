// What of a name is written on a bar that is too short for it.
#pragma once

#include <QFontMetricsF>
#include <QString>
#include <vector>

namespace rankscope::gui {

/// So many letters of a text and an ellipsis: some of its beginning and more of its end, by which names of one family
/// differ. Of few letters only the beginning; empty where not even two fit.
[[nodiscard]] QString shortened_label(const QString& text, qsizetype letters);

/// A text whose letters were measured once, since each frame shortens it to other widths.
class MeasuredLabel {
 public:
  MeasuredLabel(QString text, const QFontMetricsF& metrics);
  /// All of it, or as much as shortened_label() leaves in `room` pixels.
  [[nodiscard]] QString fitting(double room) const;

 private:
  [[nodiscard]] double width_of(qsizetype letters) const;

  QString text_;
  std::vector<double> ends_;  // of the first n letters, in pixels
  double ellipsis_ = 0;
};

}  // namespace rankscope::gui
