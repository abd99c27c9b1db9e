#include "window/start_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>

namespace rankscope::gui {

StartPage::StartPage(Session& session, QWidget& parent) : QWidget(&parent) {
  setObjectName(QStringLiteral("start_page"));
  auto* const row = new QHBoxLayout(this);
  auto* const folder = new QPushButton(tr("Open recording..."), this);
  folder->setObjectName(QStringLiteral("start_folder"));
  folder->setToolTip(tr("A .rankscope folder, or a folder of traces"));
  auto* const open = new QPushButton(tr("Open files..."), this);
  open->setToolTip(tr("Packs (.tar.zst), Kineto traces (.json, .json.gz), Nsight Systems exports (.sqlite)"));
  open->setObjectName(QStringLiteral("start_open"));
  auto* const record = new QPushButton(tr("Record..."), this);
  record->setObjectName(QStringLiteral("start_record"));
  row->addWidget(folder);
  row->addWidget(open);
  row->addWidget(record);
  connect(folder, &QPushButton::clicked, this, &StartPage::folderRequested);
  connect(open, &QPushButton::clicked, this, &StartPage::filesRequested);
  connect(record, &QPushButton::clicked, this, &StartPage::recordRequested);
  const auto follow = [this, &session] {
    setVisible(session.run() == nullptr && session.state() == LoadState::nothing);
    place();
  };
  connect(&session, &Session::stateChanged, this, follow);
  parent.installEventFilter(this);
  follow();
}

bool StartPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) place();
  return QWidget::eventFilter(watched, event);
}

void StartPage::place() {
  const QSize size = sizeHint();
  const QPoint middle = parentWidget()->rect().center();
  setGeometry({middle + QPoint{-size.width() / 2, fontMetrics().height()}, size});
}

}  // namespace rankscope::gui
