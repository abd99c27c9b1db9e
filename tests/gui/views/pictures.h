// Pictures of widgets, for people to look at.
#pragma once

#include <QPixmap>
#include <QWidget>

namespace rankscope::testing {

/// Kept as NAME.png in the folder of the environment variable RANKSCOPE_PICTURES; without it the widget is only
/// painted.
inline void paint(QWidget& widget, QSize size, const QString& name) {
  widget.resize(size);
  widget.show();
  const QPixmap picture = widget.grab();
  const QString folder = qEnvironmentVariable("RANKSCOPE_PICTURES");
  if (!folder.isEmpty()) picture.save(QStringLiteral("%1/%2.png").arg(folder, name));
}

}  // namespace rankscope::testing
