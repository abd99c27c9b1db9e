#include "window/timeline_requests.h"

#include <QInputDialog>
#include <QStatusBar>

#include "base/save_dialog.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "rankscope/gui/views/window/picture_file.h"

namespace rankscope::gui {
namespace {

constexpr int message_ms = 8000;

}  // namespace

TimelineRequests::TimelineRequests(Session& session, MainWindow& window)
    : QObject(&window), session_(session), window_(window) {
  const TimelineView& timeline = window.timeline();
  connect(&timeline, &TimelineView::noteRequested, this, &TimelineRequests::ask_for_note);
  connect(&timeline, &TimelineView::pictureRequested, this, &TimelineRequests::ask_for_picture);
  connect(&timeline, &TimelineView::exportRequested, this, &TimelineRequests::ask_for_export);
  connect(&export_, &RangeExport::done, this, &TimelineRequests::say);
  connect(&export_, &RangeExport::failed, &window, &MainWindow::warn);
}

void TimelineRequests::say(const QString& sentence) { window_.statusBar()->showMessage(sentence, message_ms); }

void TimelineRequests::ask_for_note() {
  Navigator& navigator = window_.timeline().navigator();
  const auto known = navigator.note_here();
  if (!known) return say(tr("Select an event or a time range first."));
  auto* const dialog = new QInputDialog(&window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("note"));
  dialog->setWindowTitle(tr("Note"));
  dialog->setLabelText(tr("Note on this mark:"));
  dialog->setTextValue(QString::fromStdString(*known));
  connect(dialog, &QInputDialog::textValueSelected, this,
          [&navigator](const QString& text) { navigator.note(text.toStdString()); });
  dialog->open();
}

void TimelineRequests::ask_for_picture() {
  if (session_.run() == nullptr) return say(tr("Nothing is open."));
  auto* const dialog =
      make_save_dialog(window_, tr("Save a picture"), {tr("Picture (*.png)"), tr("Drawing with text (*.svg)")});
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& name) {
    const std::filesystem::path file = name.toStdString();
    const auto saved = save_picture(window_.timeline(), file);
    saved ? say(tr("Saved %1").arg(qt_text(file.string()))) : window_.warn(qt_text(saved.error().message));
  });
  dialog->open();
}

void TimelineRequests::ask_for_export() {
  if (session_.run() == nullptr) return say(tr("Nothing is open."));
  auto* const dialog =
      make_save_dialog(window_, export_title(session_), {tr("Perfetto (*.pftrace)"), tr("Chrome trace (*.json)")});
  connect(dialog, &QFileDialog::fileSelected, this, [this, dialog](const QString& name) {
    const std::filesystem::path file = name.toStdString();
    const bool is_known = file.extension() == ".json" || file.extension() == ".pftrace";
    const bool is_chrome =
        (is_known ? qt_text(file.extension().string()) : dialog->selectedNameFilter()).contains(QStringLiteral("json"));
    export_.start(session_.run(), wish_of(session_, is_chrome ? "chrome" : "perfetto", file));
    window_.statusBar()->showMessage(tr("Writing %1...").arg(qt_text(file.string())));
  });
  dialog->open();
}

}  // namespace rankscope::gui
