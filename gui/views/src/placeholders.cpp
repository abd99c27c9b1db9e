#include "rankscope/gui/views/placeholders.h"

#include <QEvent>
#include <QPalette>

#include "timeline/colours.h"

namespace rankscope::gui {
namespace {

constexpr float part_of_text = 0.65F;  // paler than what was typed, with a contrast of more than 4.5 to 1

void mend() {
  QPalette palette = QApplication::palette();
  const QColor colour{blend(palette.color(QPalette::Base).rgb(), palette.color(QPalette::Text).rgb(), part_of_text)};
  if (palette.color(QPalette::PlaceholderText) == colour) return;
  palette.setColor(QPalette::PlaceholderText, colour);
  QApplication::setPalette(palette);
}

}  // namespace

Placeholders::Placeholders(QApplication& application) {
  application.installEventFilter(this);
  mend();
}

bool Placeholders::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ApplicationPaletteChange && watched == QCoreApplication::instance()) mend();
  return false;
}

}  // namespace rankscope::gui
