#include "picture_run.h"

#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QScrollBar>
#include <QStatusBar>
#include <QToolBar>
#include <algorithm>
#include <cstdio>
#include <string>

#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/format.h"
#include "rankscope/core/rank_choice.h"
#include "rankscope/gui/models/session/moments.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/picture_file.h"

namespace rankscope::gui {
namespace {

constexpr QSize default_size{1600, 900};
constexpr int most_high = 4000;  ///< where no size is asked for

/// Nothing but the timeline is left of the window.
void strip(MainWindow& window, QSize size) {
  for (QDockWidget* const dock : window.findChildren<QDockWidget*>()) dock->hide();
  for (QToolBar* const bar : window.findChildren<QToolBar*>()) bar->hide();
  window.menuBar()->hide();
  window.statusBar()->hide();
  window.setWindowState(Qt::WindowNoState);
  window.setAttribute(Qt::WA_DontShowOnScreen);
  const int bar = window.timeline().width() - window.timeline().picture_size().width();
  window.resize(size + QSize{bar, 0});
}

/// What came with the recording: a warning above the timeline, which is said elsewhere, and panels that its view had
/// open. True if there were any.
bool hide_what_came(MainWindow& window) {
  auto* const banner = window.findChild<QWidget*>(QStringLiteral("banner_box"));
  const auto* const text = banner->findChild<QLabel*>(QStringLiteral("banner"));
  if (!banner->isHidden()) std::fprintf(stderr, "rankscope: %s\n", text->text().toUtf8().constData());
  QList<QWidget*> all{banner};
  for (QDockWidget* const dock : window.findChildren<QDockWidget*>()) all.push_back(dock);
  bool any = false;
  for (QWidget* const one : all) {
    any = any || !one->isHidden();
    one->hide();
  }
  return any;
}

/// How much higher the picture of all rows would be.
int missing_height(const TimelineView& timeline) { return timeline.findChild<QScrollBar*>()->maximum(); }

/// For rows that are not in the picture. True if it grew.
bool make_room(MainWindow& window) {
  const int height = std::min(window.height() + missing_height(window.timeline()), most_high);
  if (height <= window.height()) return false;
  window.resize(window.width(), height);
  return true;
}

/// That rows are missing, and what to do; nothing if none is.
std::string words_on_missing_rows(const TimelineView& timeline) {
  const QSize size = timeline.picture_size();
  const int missing = missing_height(timeline);
  if (missing == 0) return {};
  const int height = size.height() + missing;
  return height > picture_pixels.most
             ? "rankscope: the picture does not show all rows; choose ranks with --ranks\n"
             : format("rankscope: the picture does not show all rows; --size {}x{} does\n", size.width(), height);
}

bool all_painted(const Session& session, TimelineView& timeline) {
  const auto& facts = timeline.model().facts();
  return session.state() == LoadState::ready && facts != nullptr && facts->waits_known && timeline.is_up_to_date();
}

}  // namespace

int make_picture(Session& session, MainWindow& window, const StartOptions& options) {
  TimelineView& timeline = window.timeline();
  QObject::connect(&session, &Session::failed, &window, [](const QString& sentence) {
    std::fprintf(stderr, "rankscope: %s\n", sentence.toUtf8().constData());
    QApplication::exit(exit_status(ErrorKind::unreadable));
  });
  QObject::connect(&session, &Session::runOpened, &window, [&] {
    const auto ranks = *ranks_from(options.ranks, "--ranks");  // start_options() has tried that
    const auto there = analyzer::check_ranks(*session.run(), ranks, "--ranks");
    const QString why_not_then = options.at ? why_not_at(session, *options.at) : QString{};
    if (there && why_not_then.isEmpty()) return;
    const QByteArray why_not = there ? why_not_then.toUtf8() : QByteArray::fromStdString(there.error().message);
    std::fprintf(stderr, "rankscope: %s\n", why_not.constData());
    QApplication::exit(exit_status(there ? ErrorKind::usage : there.error().kind));
  });
  QObject::connect(&timeline, &TimelineView::framePainted, &window, [&] {
    if (!all_painted(session, timeline) || hide_what_came(window)) return;
    if (!options.size && make_room(window)) return;
    std::fputs(words_on_missing_rows(timeline).c_str(), stderr);
    const auto saved = save_picture(timeline, options.picture);
    std::fprintf(stderr, "rankscope: %s\n",
                 saved ? analyzer::wrote_text(options.picture).c_str() : saved.error().message.c_str());
    QApplication::exit(saved ? 0 : exit_status(saved.error().kind));
  });
  strip(window, options.size.value_or(default_size));
  window.show();
  session.open(options.source);
  return QApplication::exec();
}

}  // namespace rankscope::gui
