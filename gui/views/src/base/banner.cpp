#include "base/banner.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QStyle>
#include <QToolButton>

#include "base/colours.h"

namespace rankscope::gui {
namespace {

constexpr QRgb warning = 0xFFE69F00;
constexpr float part_of_warning = 0.22F;  // so that the desktop's text can be read on it, light or dark

}  // namespace

Banner::Banner(QWidget* parent) : QFrame(parent), text_(new QLabel(this)) {
  setObjectName(QStringLiteral("banner_box"));
  setAutoFillBackground(true);
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(4, 2, 2, 2);
  text_->setObjectName(QStringLiteral("banner"));
  text_->setMargin(2);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* const close = new QToolButton(this);
  close->setObjectName(QStringLiteral("banner_close"));
  close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close"));
  close->setAccessibleName(tr("Close the warning"));
  row->addWidget(text_, 1);
  row->addWidget(close, 0, Qt::AlignTop);
  connect(close, &QToolButton::clicked, this, [this] {
    say({});
    Q_EMIT closed();
  });
  take_colours();
  hide();
}

void Banner::say(const QString& sentences) {
  text_->setText(sentences);
  setVisible(!sentences.isEmpty());
}

void Banner::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) take_colours();
}

void Banner::take_colours() {
  QPalette colours;  // of the application
  const QColor ground{blend(colours.color(QPalette::Window).rgb(), warning, part_of_warning)};
  if (palette().color(QPalette::Window) == ground) return;  // the event comes again from here
  colours.setColor(QPalette::Window, ground);
  setPalette(colours);
}

}  // namespace rankscope::gui
